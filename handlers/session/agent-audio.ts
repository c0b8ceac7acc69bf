import type { MediaSink } from '../../domain/ports/media.ts'
import type { PlayedFrame } from '../../generated/session/types.ts'

/** Sends the agent's audio to the client, and tracks how much of it was played. */
export interface AgentAudio {
  /** Sends a frame. The samples may be used only until the method returns. */
  frame(samples: Int16Array): void
  mark(name: string): void
  clear(): void
  /**
   * Handles the client's `played` frame, which answers a `mark` or a `clear` frame. Returns false if no such frame is
   * unanswered.
   */
  answered(frame: PlayedFrame): boolean
}

export type PlayedEvents = Pick<MediaSink, 'played' | 'cleared'>
export type OpenAudio = (events: PlayedEvents) => AgentAudio
