/** POST /audio/speech, streamed. What comes is told by the answer's Content-Type, not by what was asked for. */
import type { OutputFormat } from '../../audio/format.ts'
import type { Speech, Tts, TtsRequest } from '../../domain/speech/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/exchange.ts'
import { readStreamedWav } from './streamed-wav.ts'
import { protocolError, rejectAsProviderError, toProviderError, type Wire } from './wire.ts'

/** `response_format: pcm` has no header; its rate is fixed by the protocol. */
export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** RFC 7845: Opus in Ogg is decoded at 48 kHz whatever it was made from. */
export const oggOpus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

/** The protocol requires a voice; every server that follows it knows this one. */
const defaultVoice = 'alloy'

export function createTts(wire: Wire, audioBytesMax: number): Tts {
  return {
    async synthesize(request, signal) {
      const payload = { contentType: 'application/json', body: JSON.stringify(speechBody(request)) }
      return readSpeech(await wire.stream('/audio/speech', payload, audioBytesMax, signal))
    },
  }
}

function speechBody({ model, text, voice, instructions, speed, wanted }: TtsRequest): object {
  return {
    model,
    input: text,
    voice: voice ?? defaultVoice,
    response_format: wanted.encoding === 'opus' ? 'opus' : 'pcm',
    ...(instructions !== undefined && { instructions }),
    ...(speed !== undefined && { speed }),
  }
}

async function readSpeech(answer: StreamedAnswer): Promise<Speech> {
  const [type = '', ...parameters] = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')
  switch (type.trim()) {
    case 'audio/wav':
    case 'audio/wave':
    case 'audio/x-wav':
    case 'audio/vnd.wave':
      return readWav(answer)
    case 'audio/ogg':
    case 'audio/opus':
      return { format: oggOpus, audio: audioOf(answer) }
    case 'audio/pcm':
    case 'audio/raw':
    case 'audio/x-raw':
    case 'application/octet-stream':
    case '':
      return { format: { ...nativeSpeech, ...rateOf(parameters) }, audio: audioOf(answer) }
  }
  await leave(answer)
  throw protocolError(`Content-Type ${type.slice(0, 64)}`)
}

function rateOf(parameters: string[]): { sampleRateHz: number } | undefined {
  const rate = Number(/^\s*rate=(\d+)\s*$/.exec(parameters.find((text) => text.includes('rate=')) ?? '')?.[1])
  return rate >= 8000 && rate <= 192_000 ? { sampleRateHz: rate } : undefined
}

const headerBytesMax = 65_536

/** The header is not media: the format comes from it, and the first chunk handed on is samples. */
async function readWav(answer: StreamedAnswer): Promise<Speech> {
  const body = answer.body[Symbol.asyncIterator]()
  let start: Buffer = Buffer.alloc(0)
  try {
    while (start.length < headerBytesMax) {
      const next = await body.next()
      if (next.done) throw protocolError('ended within the WAV header')
      start = Buffer.concat([start, next.value])
      const header = readStreamedWav(start)
      if (header) return { format: header.format, audio: audioOf(answer, start.subarray(header.dataOffset)) }
    }
    throw protocolError('no samples')
  } catch (error) {
    await leave(answer)
    throw error instanceof RangeError ? protocolError(error.message) : toProviderError(error)
  }
}

/** Not a generator: one that is left before its first `next` would not close the connection. */
function audioOf(answer: StreamedAnswer, first?: Uint8Array): AsyncIterable<Uint8Array> {
  const body = answer.body[Symbol.asyncIterator]()
  let pending = first?.length ? first : null
  const iterator: AsyncIterator<Uint8Array> = {
    next() {
      if (!pending) return body.next().catch(rejectAsProviderError)
      const value = pending
      pending = null
      return Promise.resolve({ value, done: false })
    },
    async return() {
      await body.return?.()
      return { value: undefined, done: true }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

async function leave(answer: StreamedAnswer): Promise<void> {
  await answer.body[Symbol.asyncIterator]().return?.()
}
