/** How each carrier names the fields in media frames. The carriers' frames do not differ otherwise. */
import { type LineCodec, l16, pcma, pcmu } from '../../audio/line-codec.ts'
import type { StartFrame } from '../../generated/carrier/types.ts'

export type LineFormat = { codec: LineCodec; sampleRateHz: number }

/** One carrier's way to write frames. */
export type Spelling = {
  streamId(frame: StartFrame): string | undefined
  carrierLegId(frame: StartFrame): string | undefined
  /** The incoming audio's format. */
  format(frame: StartFrame): { encoding: string; sampleRateHz: number } | undefined
  /** JSON text with the stream's id, written into each outgoing frame after `event`. */
  ofStream(streamId: string): string
  /** The only format that the carrier accepts. Null if it accepts the format that we requested. */
  takes: LineFormat | null
}

const mulaw8k: LineFormat = { codec: pcmu, sampleRateHz: 8000 }

const telnyx: Spelling = {
  streamId: ({ stream_id }) => stream_id,
  carrierLegId: ({ start }) => start.call_control_id,
  format: ({ start: { media_format: format } }) => format && { ...format, sampleRateHz: format.sample_rate },
  ofStream: () => '',
  takes: null,
}

const twilio: Spelling = {
  streamId: ({ streamSid }) => streamSid,
  carrierLegId: ({ start }) => start.callSid,
  format: ({ start: { mediaFormat: format } }) => format && { ...format, sampleRateHz: format.sampleRate },
  ofStream: (streamId) => `,"streamSid":${JSON.stringify(streamId)}`,
  takes: mulaw8k,
}

const spellings = [telnyx, twilio]

export const spellingOf = (frame: StartFrame): Spelling | undefined =>
  spellings.find((spelling) => spelling.streamId(frame) !== undefined)

/** Returns the incoming audio's format. Null if its encoding or rate is not supported here. */
export function formatIn(spelling: Spelling, frame: StartFrame): LineFormat | null {
  const { encoding = '', sampleRateHz = 0 } = spelling.format(frame) ?? {}
  const codec = codecs.get(encoding.toLowerCase())
  const isSupported = codec !== undefined && (sampleRateHz === 8000 || (sampleRateHz === 16_000 && codec === l16))
  return isSupported ? { codec, sampleRateHz } : null
}

/** Returns the audio format for a requested rate: see `MediaEndpoint`. */
export const requestedFormat = (sampleRateHz: 8000 | 16_000): LineFormat =>
  sampleRateHz === 8000 ? mulaw8k : { codec: l16, sampleRateHz }

const codecs: ReadonlyMap<string, LineCodec> = new Map([
  ['pcmu', pcmu],
  ['audio/x-mulaw', pcmu],
  ['pcma', pcma],
  ['audio/x-alaw', pcma],
  ['l16', l16],
  ['audio/l16', l16],
])
