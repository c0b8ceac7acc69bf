/**
 * The media of one session, behind which a WebSocket, a LiveKit room or a carrier's stream stands. Audio is mono PCM16
 * in both directions, at one sample rate.
 */
import type { EndReason } from '../records/states/call.ts'

export const frameMs = 20

/** Everything that the session shows beside audio. A phone has no use for it. Ids name a turn: an equal id replaces the text. */
export type SessionEvent =
  | { type: 'state'; state: AgentState }
  | { type: 'transcript'; id: string; text: string; isFinal: boolean }
  | { type: 'agentMessage'; id: string; text: string; isFinal: boolean; interrupted: boolean }
  | { type: 'toolCall'; id: string; name: string; status: 'started' | 'completed' | 'failed' }
  /** Only for tools that the page runs. */
  | { type: 'toolRequested'; id: string; name: string; args: string }

export const agentStates = ['listening', 'thinking', 'speaking'] as const
export type AgentState = (typeof agentStates)[number]

/** The reasons for which a session ends with a fault. */
export type SessionFault = 'upstream' | 'internal' | 'budget_exhausted' | 'shutting_down'

export interface MediaTransport {
  readonly sampleRateHz: number
  /** Exactly 20 ms. The samples are lent until it returns. The calling code keeps the pace: see `Playout`. */
  frame(samples: Int16Array): void
  /** Comes back as `played` when the audio before it was played. Names are `<turn>:<ms>`. */
  mark(name: string): void
  /** Drops what was sent and not played. Answered by `cleared`. */
  clear(): void
  notify(event: SessionEvent): void
  /** Presses keys on the phone at the other end: `0-9*#A-D`, and `w` for half a second of silence. Only a phone has it. Rejects with PhoneLineError. */
  pressKeys?(digits: string): Promise<void>
  /** The session is over: its last frames, then the socket closes. */
  close(reason: EndReason, fault: SessionFault | null): void
  /** The conversation is over, also when the stream was lost before. Only a phone has it, because its leg outlives its stream. */
  over?(fault: SessionFault | null): void
}

/** Receives everything that comes from the caller. Every method may be called at any time until `close` was called. */
export interface MediaSink {
  /** Any number of whole samples. They are lent until it returns. */
  audio(samples: Int16Array): void
  played(mark: string): void
  /** `mark` is the last one that was passed, null for none; `playedMs` counts from it. */
  cleared(mark: string | null, playedMs: number): void
  /** A typed turn. It interrupts. */
  userMessage(text: string): void
  /** A note for the LLM, which is no turn. */
  contextualUpdate(text: string): void
  dtmf(digits: string): void
  /** The page has run a tool. False: no tool call of this id waits. */
  toolResult(id: string, result: string, isError: boolean): boolean
  /** The socket is lost. The session waits for another one: the agent is silent and its timers stop. */
  gone(): void
  /** Another socket has taken the seat. Nothing that was sent before is sent again. */
  back(transport: MediaTransport): void
  /** The user has hung up. */
  hangUp(): void
}
