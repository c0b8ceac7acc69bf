export type AudioFault =
  /** The body has no samples. */
  | 'empty'
  /** The format is not recognized, and raw samples were not declared. */
  | 'unrecognised'
  /** The format, or the codec in a supported container, is recognized but not supported. */
  | 'unsupported'
  /** The body is shorter than its header declares. */
  | 'truncated'
  /** The headers contradict each other or the format that the client declared. */
  | 'damaged'
  | 'too_long'

/** The reason why audio was refused. `message` may be shown to the client. */
export class AudioError extends Error {
  readonly reason: AudioFault

  constructor(reason: AudioFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AudioError'
    this.reason = reason
  }
}
