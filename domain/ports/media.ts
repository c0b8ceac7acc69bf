/**
 * One session's media: a WebSocket, a LiveKit room or a carrier's stream implements it. Audio is mono PCM16 in both
 * directions, at one sample rate.
 */
import type { EndReason } from '../records/states/call.ts'

export const frameMs = 20

/** The session's output besides audio. A phone cannot show it. Ids name a turn: an equal id replaces the text. */
export type SessionEvent =
  | { type: 'state'; state: AgentState }
  | { type: 'transcript'; id: string; text: string; isFinal: boolean }
  | { type: 'agentMessage'; id: string; text: string; isFinal: boolean; interrupted: boolean }
  | { type: 'toolCall'; id: string; name: string; status: 'started' | 'completed' | 'failed' }
  /** Only for tools run by the page. */
  | { type: 'toolRequested'; id: string; name: string; args: string }

export const agentStates = ['listening', 'thinking', 'speaking'] as const
export type AgentState = (typeof agentStates)[number]

/** The faults at a session's end. */
export type SessionFault = 'upstream' | 'internal' | 'budget_exhausted' | 'shutting_down'

export interface MediaTransport {
  readonly sampleRateHz: number
  /** Exactly 20 ms. The samples are lent until it returns. The calling code keeps the pace: see `Playout`. */
  frame(samples: Int16Array): void
  /** Comes back as `played` after the preceding audio was played. Names are `<turn>:<ms>`. */
  mark(name: string): void
  /** Drops sent but unplayed audio. Answered by `cleared`. */
  clear(): void
  notify(event: SessionEvent): void
  /**
   * Sends DTMF to the phone: `0-9*#A-D`, and `w` for half a second's silence. Only a phone has it. Rejects with
   * PhoneLineError.
   */
  pressKeys?(digits: string): Promise<void>
  /** The session is over: sends its last frames, then closes the socket. */
  close(reason: EndReason, fault: SessionFault | null): void
  /**
   * The conversation is over, even if the stream was lost before. Only a phone has it, because its leg outlives its
   * stream.
   */
  over?(fault: SessionFault | null): void
}

/** Receives the caller's events. Every method may be called at any time until `close` was called. */
export interface MediaSink {
  /** Any number of whole samples, lent until it returns. */
  audio(samples: Int16Array): void
  played(mark: string): void
  /** `mark` is the last mark passed, or null if playing had not reached a mark; `playedMs` counts from it. */
  cleared(mark: string | null, playedMs: number): void
  /** A typed turn. It interrupts. */
  userMessage(text: string): void
  /** A note for the LLM. It is not a turn. */
  contextualUpdate(text: string): void
  dtmf(digits: string): void
  /** The page has run a tool. False if no tool call with this id waits. */
  toolResult(id: string, result: string, isError: boolean): boolean
  /** The socket is lost. The session waits for another socket: the agent is silent and its timers stop. */
  gone(): void
  /** Another socket has taken the seat. Earlier output is not sent again. */
  back(transport: MediaTransport): void
  /** The user has hung up. */
  hangUp(): void
}
