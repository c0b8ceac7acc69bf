import type { MediaSink } from '../../domain/ports/media.ts'
import type { PlayedFrame } from '../../generated/session/types.ts'

/** The audio of the agent on its way to the client, and the account of how much of it the client has played. */
export interface AgentAudio {
  /** The samples are lent until it returns. */
  frame(samples: Int16Array): void
  mark(name: string): void
  clear(): void
  /** Takes a `played` frame of the client. False: it answers nothing that was sent. */
  answered(frame: PlayedFrame): boolean
}

export type PlayedEvents = Pick<MediaSink, 'played' | 'cleared'>
export type OpenAudio = (events: PlayedEvents) => AgentAudio
