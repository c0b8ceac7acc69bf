import type { MediaSink } from '../../domain/ports/media.ts'
import type { PlayedFrame } from '../../generated/session/types.ts'

/** The agent's audio on its way to the client, with a record of its playout. */
export interface AgentAudio {
  /** Sends a frame. The samples are lent until it returns. */
  frame(samples: Int16Array): void
  mark(name: string): void
  clear(): void
  /** Handles the client's `played` frame. Returns false if it answers nothing that was sent. */
  answered(frame: PlayedFrame): boolean
}

export type PlayedEvents = Pick<MediaSink, 'played' | 'cleared'>
export type OpenAudio = (events: PlayedEvents) => AgentAudio
