/** POST /audio/speech, streamed. What comes is told by the answer's Content-Type, not by what was asked for. */
import type { OutputFormat } from '../../audio/format.ts'
import type { Speech, Tts, TtsRequest } from '../../domain/speech/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/exchange.ts'
import { audioOf, leave, readWav } from '../wire/audio-answer.ts'
import { type JsonObject, protocolError } from '../wire/failures.ts'
import { json, type Wire } from '../wire/http.ts'

/** `response_format: pcm` has no header; its rate is fixed by the protocol. */
export const nativeSpeech: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** RFC 7845: Opus in Ogg is decoded at 48 kHz whatever it was made from. */
export const oggOpus: OutputFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

/** The protocol requires a voice; every server that follows it knows this one. */
const defaultVoice = 'alloy'

export function createTts(wire: Wire, audioBytesMax: number): Tts {
  return {
    async synthesize(request, signal) {
      return readSpeech(await wire.stream('/audio/speech', json(speechBody(request)), audioBytesMax, signal))
    },
  }
}

function speechBody({ model, text, voice, instructions, speed, wanted }: TtsRequest): JsonObject {
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
