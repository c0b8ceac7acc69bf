/** Reads the command fields for a leg's audio stream. */
import { type Fields, loopbackUrl, oneOf, textOrNull } from './fields.ts'
import type { LineFormat } from './media/clip.ts'
import type { StreamRequest } from './media-stream.ts'
import { invalid } from './refusal.ts'

const encodings = ['PCMU', 'PCMA', 'L16'] as const

/** Reads the stream in a command. Returns null if the command asks for no stream. */
export function streamFields(fields: Fields): StreamRequest | null {
  const url = loopbackUrl(fields, 'stream_url', ['ws:'])
  if (url === null) return null
  oneOf(fields, 'stream_track', ['inbound_track'], 'inbound_track')
  const mode = oneOf(fields, 'stream_bidirectional_mode', ['mp3', 'rtp'], 'mp3')
  const playedRateHz = rateOf(fields)
  const encoding = oneOf(fields, 'stream_codec', [...encodings, 'default'], 'default')
  const played = oneOf(fields, 'stream_bidirectional_codec', encodings, 'PCMU')
  return {
    url,
    format: formatOf(encoding === 'default' ? 'PCMU' : encoding, playedRateHz),
    playedFormat: mode === 'rtp' ? formatOf(played, playedRateHz) : null,
    token: textOrNull(fields, 'stream_auth_token'),
  }
}

/** Returns the stream's audio format. G.711 has only one sample rate. */
function formatOf(encoding: LineFormat['encoding'], sampleRateHz: LineFormat['sampleRateHz']): LineFormat {
  return { encoding, sampleRateHz: encoding === 'L16' ? sampleRateHz : 8000 }
}

function rateOf(fields: Fields): LineFormat['sampleRateHz'] {
  const rate = fields['stream_bidirectional_sampling_rate'] ?? 8000
  if (rate === 8000 || rate === 16_000) return rate
  throw invalid('stream_bidirectional_sampling_rate', 'The simulator has 8000 and 16000 Hz.')
}

/** Reads a bridge command. If `stays` is true, the leg is not hung up when the other leg ends. */
export function bridgeFields(fields: Fields): { stays: boolean } {
  return { stays: textOrNull(fields, 'park_after_unbridge') === 'self' }
}
