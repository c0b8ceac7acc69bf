/** How a body that is no audio is refused. */
import t from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { AudioError, type AudioFault } from '../../audio/error.ts'
import { wavHeader } from '../../audio/wav.ts'
import { webmPackets } from '../../audio/webm.ts'
import { fc } from '../random.ts'
import { readFixture } from '../speech/fixtures.ts'
import { bytes, cut, extensible, fmt, recognised, riff, text, u32 } from './build.ts'

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
