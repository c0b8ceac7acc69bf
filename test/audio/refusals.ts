/** Returns the error for a body that is not readable as audio. */
import { AudioError, type AudioFault } from '../../audio/error.ts'
import { recognised } from './build.ts'

type Tap = { equal: (a: unknown, b: unknown) => unknown; match: (a: string, b: RegExp) => unknown }

export function refusal(
  body: Uint8Array | Uint8Array[],
  declared: Parameters<typeof recognised>[1] = null,
): AudioError {
  try {
    recognised(Array.isArray(body) ? body : [body], declared)
  } catch (error) {
    if (error instanceof AudioError) return error
    throw error
  }
  throw new Error('was taken')
}

export function refuses(
  t: Tap,
  reason: AudioFault,
  message: RegExp,
  body: Uint8Array,
  declared?: Parameters<typeof recognised>[1],
) {
  const error = refusal(body, declared ?? null)
  t.equal(error.reason, reason)
  t.match(error.message, message)
}
