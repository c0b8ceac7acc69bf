/**
 * The turns of a conversation, as one table. It knows no time and no audio: the conversation reports what happened as events and
 * runs the effects that are answered.
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
  /** The turn is over, and no audio of the answer was sent. */
  | 'thinking'
  | 'speaking'
  /** The user speaks in the agent's turn, and the words have not decided yet whether that is an interruption. */
  | 'paused'
  | 'closing'
  | 'over'

/** How a phase is shown. */
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
  /** The user speaks now, in any phase. */
  talks: boolean
  /** Audio of the answer was sent. */
  started: boolean
}

export type TurnEvent =
  | 'speechStarted'
  | 'speechEnded'
  /** The user has said words that count: more than a backchannel, and no echo. */
  | 'words'
  /** The speech lasted for `minDuration`. */
  | 'longSpeech'
  /** The speech had no words in time, or only a backchannel. */
  | 'falseAlarm'
  /** The turn of the user is over, and it has a text. */
  | 'decided'
  /** The same while the agent is muted: people who have joined answer. */
  | 'kept'
  /** The speech had no words. */
  | 'nothingSaid'
  /** A text or digits instead of speech. */
  | 'typed'
  /** The agent speaks without a turn of the user: a first message, a question after a silence. */
  | 'prompted'
  /** A person who has joined speaks for the agent from now on. */
  | 'muted'
  | 'agentStarted'
  /** The answer was played, or will never come. */
  | 'agentFinished'
  /** The session ends after some last words. */
  | 'close'
  | 'end'

export type TurnEffect =
  /** Find out whether the turn of the user is over. Again with each new text. */
  | 'decide'
  /** The user goes on: no decision. */
  | 'keepListening'
  /** The turn of the user is over: answer it. */
  | 'answer'
  /** The turn of the user is over, and nobody but people answers it. */
  | 'keep'
  /** Answer what was typed, or speak a text of the agent. */
  | 'speak'
  /** Silence at once, in a way that can be undone. */
  | 'pause'
  | 'resume'
  /** The answer ends here, for good. */
  | 'interrupt'
  /** The user said words while the agent spoke that could not interrupt it: they are answered now. */
  | 'catchUp'
  | 'sayGoodbye'
  | 'finish'

export type InterruptionMode = 'adaptive' | 'vad' | 'none'

export const initialTurnState: TurnState = { phase: 'listening', talks: false, started: false }

type Step = { state: TurnState; effects: readonly TurnEffect[] }
type Rule = (state: TurnState, mode: InterruptionMode) => { phase: TurnPhase; effects?: readonly TurnEffect[] } | null

/** The next state. `mode` is the way in which the agent can be interrupted now. An event without a rule changes nothing else. */
export function step(state: TurnState, event: TurnEvent, mode: InterruptionMode): Step {
  const talks = event === 'speechStarted' || (state.talks && event !== 'speechEnded')
  const started = event === 'agentStarted' || state.started
  const known = { phase: state.phase, talks, started: started && isAgents(state.phase) }
  const next = state.phase === 'over' ? null : (rules[state.phase][event] ?? always[event])?.(known, mode)
  if (!next) return { state: known, effects: none }
  const goesOn = isAgents(state.phase) && isAgents(next.phase) && !next.effects?.includes('speak')
  return { state: { phase: next.phase, talks, started: started && goesOn }, effects: next.effects ?? none }
}

/** The agent has the turn. */
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

/** The agent's turn, before and after its first audio. */
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
    // Speech that voice activity detection has missed.
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
