import { AudioError } from '../audio/error.ts'
import type { Recording } from '../audio/format.ts'
import { type DeclaredAudio, recogniseRecording } from '../audio/recognise.ts'
import { type Bytes, Refusal } from '../runtime/engine/handler.ts'

export type RecordingRules = {
  /** What the sender says of raw samples. */
  declared: DeclaredAudio | null
  durationMaxMs: number
  /** The part that holds the audio, and how raw samples are declared beside it. */
  param: string
  hint: string
}

/** Throws invalid_parameter that names the part: what cannot be read is the sender's to mend. */
export function readRecording(upload: Bytes, { declared, durationMaxMs, param, hint }: RecordingRules): Recording {
  try {
    return recogniseRecording(upload.chunks, declared, durationMaxMs)
  } catch (error) {
    if (!(error instanceof AudioError)) throw error
    throw new Refusal('invalid_parameter', { param, message: error.message, hint })
  }
}
