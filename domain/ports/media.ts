/**
 * The media of one session, implemented by a WebSocket, a LiveKit room or a carrier's stream. Audio is mono PCM16 in
 * both directions, at one sample rate.
 */
import type { EndReason } from '../records/states/call.ts'

export const frameMs = 20

/**
 * The session's output besides audio. A phone cannot show this output. If an event's id repeats, its text replaces the
 * earlier text of this turn.
 */
export type SessionEvent =
  | { type: 'state'; state: AgentState }
  | { type: 'transcript'; id: string; text: string; isFinal: boolean }
  | { type: 'agentMessage'; id: string; text: string; isFinal: boolean; interrupted: boolean }
  | { type: 'toolCall'; id: string; name: string; status: 'started' | 'completed' | 'failed' }
  /** Asks the session's browser page to run a tool. */
  | { type: 'toolRequested'; id: string; name: string; args: string }

export const agentStates = ['listening', 'thinking', 'speaking'] as const
export type AgentState = (typeof agentStates)[number]

/** The fault that ended a session. */
export type SessionFault = 'upstream' | 'internal' | 'budget_exhausted' | 'shutting_down'

export interface MediaTransport {
  readonly sampleRateHz: number
  /**
   * Sends exactly 20 ms of audio. The array may be reused after the function returns. Frames must be sent in real time:
   * see `Playout`.
   */
  frame(samples: Int16Array): void
  /**
   * Marks the current position in the audio. The sink's `played` is called with the name after the preceding audio was
   * played. Names are `<turn>:<ms>`.
   */
  mark(name: string): void
  /** Drops sent but unplayed audio. Then the sink's `cleared` is called. */
  clear(): void
  notify(event: SessionEvent): void
  /**
   * Sends DTMF to the phone: `0-9*#A-D`, and `w` for half a second's silence. Present only for a phone. Rejects with
   * PhoneLineError.
   */
  pressKeys?(digits: string): Promise<void>
  /** Ends the session: sends its last frames, then closes the socket. */
  close(reason: EndReason, fault: SessionFault | null): void
  /**
   * Called when the conversation is over, even if the stream was lost before. Present only for a phone, because a
   * phone's leg outlives its stream.
   */
  over?(fault: SessionFault | null): void
}

/** Receives the caller's events. Until `close` was called, every method may be called at any time. */
export interface MediaSink {
  /** Receives any number of whole samples. The array is valid only until the function returns. */
  audio(samples: Int16Array): void
  played(mark: string): void
  /**
   * Called after `clear`. `mark` is the last mark that playout passed, or null if playout passed no mark. `playedMs`
   * counts from this mark.
   */
  cleared(mark: string | null, playedMs: number): void
  /** Receives a typed turn. It interrupts the agent. */
  userMessage(text: string): void
  /** Receives a note for the LLM. A note is not a turn. */
  contextualUpdate(text: string): void
  dtmf(digits: string): void
  /** Receives the result of a tool in the web page. Returns false if no tool call with this id waits for a result. */
  toolResult(id: string, result: string, isError: boolean): boolean
  /** Called when the socket is lost. The session waits for another socket: the agent is silent and its timers stop. */
  gone(): void
  /** Called when another socket has replaced the lost socket. Earlier output is not sent again. */
  back(transport: MediaTransport): void
  /** Called when the user has hung up. */
  hangUp(): void
}
