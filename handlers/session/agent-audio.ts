import type { MediaSink } from '../../domain/ports/media.ts'
import type { PlayedFrame } from '../../generated/session/types.ts'

/** The agent's audio on its way to the client, with a record of its playout. */
export interface AgentAudio {
  /** Sends a frame. The samples may be used only until the method returns. */
  frame(samples: Int16Array): void
  mark(name: string): void
  clear(): void
  /** Handles the client's `played` frame. Returns false if no sent mark or clear waits for the frame. */
  answered(frame: PlayedFrame): boolean
}

export type PlayedEvents = Pick<MediaSink, 'played' | 'cleared'>
export type OpenAudio = (events: PlayedEvents) => AgentAudio
