export type AudioFault =
  /** No samples at all. */
  | 'empty'
  /** Nothing that we know how to read, and nobody declared raw samples. */
  | 'unrecognised'
  /** A known format, or a known container with something in it that we do not read. */
  | 'unsupported'
  /** Less is there than the header promises. */
  | 'truncated'
  /** The headers contradict themselves or the declaration. */
  | 'damaged'
  | 'too_long'

/** Why audio cannot be taken. `message` is fit for the person who sent it. */
export class AudioError extends Error {
  readonly reason: AudioFault

  constructor(reason: AudioFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AudioError'
    this.reason = reason
  }
}
