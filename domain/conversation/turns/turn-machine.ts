/**
 * The turns in a conversation, as one table. The table contains no times and no audio: the conversation reports events
 * to it and runs the returned effects.
 *
 *   listening ──► userSpeaking ◄──► deciding ──► thinking ──► speaking ──► listening
 *       ▲                                           │            │
 *       │                                           └─► paused ◄─┘   the user speaks: resume, or the answer is dropped
 *       └── closing: the last words of the agent are spoken ──► over
 */
import type { AgentState } from '../../ports/media.ts'

export type TurnPhase =
  | 'listening'
  | 'userSpeaking'
  /** The user is silent, and the turn may be over. */
  | 'deciding'
  /** The user's turn is over, and no audio from the agent's answer was sent yet. */
  | 'thinking'
  | 'speaking'
  /** The user speaks in the agent's turn. It is not yet clear whether this is an interruption. */
  | 'paused'
  | 'closing'
  | 'over'

/** The agent's state that clients see in each phase. */
export const stateOf: Record<TurnPhase, AgentState> = {
  listening: 'listening',
  userSpeaking: 'listening',
  deciding: 'listening',
  thinking: 'thinking',
  speaking: 'speaking',
  paused: 'speaking',
  closing: 'speaking',
  over: 'listening',
}

export type TurnState = {
  phase: TurnPhase
  /** True while the user speaks, in any phase. */
  talks: boolean
  /** True if audio from the agent's answer was sent. */
  started: boolean
}

export type TurnEvent =
  | 'speechStarted'
  | 'speechEnded'
  /** The user has said words that count: they are neither a backchannel nor an echo. */
  | 'words'
  /** The user's speech has lasted for `minDuration`. */
  | 'longSpeech'
  /** The user's speech produced no words in time, or only a backchannel. */
  | 'falseAlarm'
  /** The user's turn is over and contains text. */
  | 'decided'
  /** Like `decided`, but the agent is muted, because people who have joined answer. */
  | 'kept'
  /** The speech had no words. */
  | 'nothingSaid'
  /** The user has sent a text or digits instead of speech. */
  | 'typed'
  /** The agent speaks without a user turn: a first message, a question after silence. */
  | 'prompted'
  /** A person who has joined speaks for the agent from now on. */
  | 'muted'
  | 'agentStarted'
  /** The answer was played, or will never come. */
  | 'agentFinished'
  /** The session is to end after some last words. */
  | 'close'
  | 'end'

export type TurnEffect =
  /** Find out whether the user's turn is over. Repeated with each new text. */
  | 'decide'
  /** Cancel the pending decision, because the user goes on speaking. */
  | 'keepListening'
  /** Answer the user's turn, because it is over. */
  | 'answer'
  /** Record the user's turn without an answer, because people who have joined answer it. */
  | 'keep'
  /** Answer a typed text, or speak an agent text. */
  | 'speak'
  /** Silence the agent at once. `resume` can undo this. */
  | 'pause'
  | 'resume'
  /** End the agent's answer for good. */
  | 'interrupt'
  /** Answer the words that the user said while the agent could not be interrupted. */
  | 'catchUp'
  | 'sayGoodbye'
  | 'finish'

export type InterruptionMode = 'adaptive' | 'vad' | 'none'

export const initialTurnState: TurnState = { phase: 'listening', talks: false, started: false }

type Step = { state: TurnState; effects: readonly TurnEffect[] }
type Rule = (state: TurnState, mode: InterruptionMode) => { phase: TurnPhase; effects?: readonly TurnEffect[] } | null

/**
 * Returns the next state and its effects. `mode` states how the agent can be interrupted at present. An event without a
 * rule changes only `talks` and `started`.
 */
export function step(state: TurnState, event: TurnEvent, mode: InterruptionMode): Step {
  const talks = event === 'speechStarted' || (state.talks && event !== 'speechEnded')
  const started = event === 'agentStarted' || state.started
  const current = { phase: state.phase, talks, started: started && isAgents(state.phase) }
  const next = state.phase === 'over' ? null : (rules[state.phase][event] ?? always[event])?.(current, mode)
  if (!next) return { state: current, effects: none }
  const goesOn = isAgents(state.phase) && isAgents(next.phase) && !next.effects?.includes('speak')
  return { state: { phase: next.phase, talks, started: started && goesOn }, effects: next.effects ?? none }
}

/** Returns true if it is the agent's turn. */
export function isAgents(phase: TurnPhase): boolean {
  return phase === 'thinking' || phase === 'speaking' || phase === 'paused'
}

const none: readonly TurnEffect[] = []

const always: Partial<Record<TurnEvent, Rule>> = {
  close: ({ phase }) => (phase === 'closing' ? null : { phase: 'closing', effects: ['sayGoodbye'] }),
  end: () => ({ phase: 'over', effects: ['finish'] }),
}

const speak: Rule = () => ({ phase: 'thinking', effects: ['speak'] })
const speakInstead: Rule = () => ({ phase: 'thinking', effects: ['interrupt', 'speak'] })
const afterAgent: Rule = ({ talks }) => ({ phase: talks ? 'userSpeaking' : 'listening', effects: ['catchUp'] })
const muted: Rule = ({ talks }) => ({
  phase: talks ? 'userSpeaking' : 'listening',
  effects: ['interrupt', 'catchUp'],
})
const interrupt: Rule = ({ talks }) =>
  talks ? { phase: 'userSpeaking', effects: ['interrupt'] } : { phase: 'deciding', effects: ['interrupt', 'decide'] }

/** The rules for the agent's turn, before and after its first audio. */
const agentsTurn: Partial<Record<TurnEvent, Rule>> = {
  speechStarted: (_state, mode) => (mode === 'adaptive' ? { phase: 'paused', effects: ['pause'] } : null),
  longSpeech: (state, mode) => (mode === 'vad' ? interrupt(state, mode) : null),
  words: (state, mode) => (mode === 'adaptive' ? interrupt(state, mode) : null),
  typed: speakInstead,
  muted,
  agentFinished: afterAgent,
}

const rules: Record<Exclude<TurnPhase, 'over'>, Partial<Record<TurnEvent, Rule>>> = {
  listening: {
    speechStarted: () => ({ phase: 'userSpeaking', effects: ['keepListening'] }),
    // The words arrived although voice activity detection had missed the start of speech.
    words: () => ({ phase: 'deciding', effects: ['decide'] }),
    typed: speak,
    prompted: speak,
  },
  userSpeaking: {
    speechEnded: () => ({ phase: 'deciding', effects: ['decide'] }),
    typed: speak,
  },
  deciding: {
    speechStarted: () => ({ phase: 'userSpeaking', effects: ['keepListening'] }),
    words: () => ({ phase: 'deciding', effects: ['decide'] }),
    decided: () => ({ phase: 'thinking', effects: ['answer'] }),
    kept: () => ({ phase: 'listening', effects: ['keep'] }),
    nothingSaid: () => ({ phase: 'listening', effects: ['keepListening'] }),
    typed: speak,
  },
  thinking: { ...agentsTurn, agentStarted: () => ({ phase: 'speaking' }) },
  speaking: agentsTurn,
  paused: {
    words: interrupt,
    falseAlarm: ({ started }) => ({ phase: started ? 'speaking' : 'thinking', effects: ['resume'] }),
    typed: speakInstead,
    muted,
    agentFinished: afterAgent,
  },
  closing: { agentFinished: () => ({ phase: 'over', effects: ['finish'] }) },
}
