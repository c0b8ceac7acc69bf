import { setImmediate as afterOthers } from 'node:timers/promises'
import { AudioError, type AudioFault } from '../audio/error.ts'
import type { Recording } from '../audio/format.ts'
import { type DeclaredAudio, recogniseRecording } from '../audio/recognise.ts'
import { Fault } from '../domain/records/fault.ts'
import { type Bytes, Refusal, type RefusalKind } from '../runtime/engine/handler.ts'

export type RecordingRules = {
  /** The format of raw samples, as the client declares it. */
  declared: DeclaredAudio | null
  durationMaxMs: number
  /** The name of the audio's field in the request. `hint` explains how raw samples are declared there. */
  param: string
  hint: string
}

/**
 * Reads a recording. Other requests continue while a large recording is read. Throws the refusal payload_too_large if
 * the audio lasts too long, and unsupported_media if its container or codec cannot be read. Broken audio is
 * invalid_parameter, because only the client can correct it.
 */
export async function readRecording(upload: Bytes, rules: RecordingRules): Promise<Recording> {
  const { declared, durationMaxMs, param, hint } = rules
  try {
    const steps = recogniseRecording(upload.chunks, declared, durationMaxMs)
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
      await afterOthers()
    }
  } catch (error) {
    if (!(error instanceof AudioError)) throw error
    const kind = refusalOf[error.reason]
    const own = kind === 'payload_too_large' ? {} : { hint }
    throw new Refusal(kind, { param, message: error.message, ...own })
  }
}

/**
 * Returns the error to throw. AAC is not decoded here, so if routing leaves no provider for AAC, the recording is
 * refused like any other unreadable codec.
 */
export function unreadError(error: unknown, { format }: Recording, param: string): unknown {
  const isUnread = error instanceof Fault && error.kind === 'encoding_unsupported' && onlyHandedOn.has(format.encoding)
  if (!isUnread) return error
  return new Refusal('unsupported_media', {
    param,
    message: `The audio is AAC (${format.container === 'mp4' ? 'an MP4 file' : 'a stream of frames'}), and no provider that the routing leaves reads it.`,
    hint: 'Send WAV, FLAC, Ogg/Opus, WebM/Opus or MP3, or route to a provider whose audio_formats name aac.',
  })
}

const onlyHandedOn: ReadonlySet<string> = new Set(['aac', 'aac_adts'])

const refusalOf: Record<AudioFault, RefusalKind> = {
  empty: 'invalid_parameter',
  truncated: 'invalid_parameter',
  damaged: 'invalid_parameter',
  unrecognised: 'unsupported_media',
  unsupported: 'unsupported_media',
  too_long: 'payload_too_large',
}
