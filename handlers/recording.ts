import { AudioError } from '../audio/error.ts'
import type { Recording } from '../audio/format.ts'
import { type DeclaredAudio, recogniseRecording } from '../audio/recognise.ts'
import { type Bytes, Refusal } from '../runtime/engine/handler.ts'

export type RecordingRules = {
  /** The format of raw samples, as the client declares it. */
  declared: DeclaredAudio | null
  durationMaxMs: number
  /** The part of the request that holds the audio; `hint` says how raw samples are declared beside it. */
  param: string
  hint: string
}

/** Throws the refusal invalid_parameter for the part if the audio cannot be read, because only the client can correct it. */
export function readRecording(upload: Bytes, { declared, durationMaxMs, param, hint }: RecordingRules): Recording {
  try {
    return recogniseRecording(upload.chunks, declared, durationMaxMs)
  } catch (error) {
    if (!(error instanceof AudioError)) throw error
    throw new Refusal('invalid_parameter', { param, message: error.message, hint })
  }
}
