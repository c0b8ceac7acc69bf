/**
 * Speech uses the same endpoint as text. The response is events with base64 audio parts, and each part's `mimeType`
 * names the format. Some models send a WAV header before the first sample. The header is removed, because it is not
 * audio.
 */
import { AudioError } from '../../audio/error.ts'
import type { OutputFormat } from '../../audio/format.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { Speech, Tts, TtsRequest } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { protocolError, toProviderError } from '../wire/failures.ts'
import { json, readAnswer, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { readStreamedWav } from '../wire/streamed-wav.ts'
import { candidateOf, filtered, finishOf, partsOf, refuseBlocked } from './answer.ts'
import { defaultVoice, nativeSpeech } from './models.ts'
import { modelPath } from './request.ts'
import { wire } from './wire.ts'

export function createTts(http: VendorHttp, apiKey: string | null, limits: OutboundLimits): Tts {
  return {
    async synthesize(request: TtsRequest, signal: CancelSignal): Promise<Speech> {
      const path = modelPath(request.model, 'streamGenerateContent')
      const answer = await http.stream(path, json(speechBody(request)), limits.audioBytesMax, signal)
      const media = samplesOf(answer, apiKey, limits)
      const first = await media.next()
      return { format: first.done ? nativeSpeech : first.value.format, audio: audioFrom(first, media) }
    },
  }
}

/** Returns the request's body. The model reads the whole text aloud, so instructions go into `speechMetadata`. */
function speechBody({ text, voice = defaultVoice, language, instructions }: TtsRequest): JsonObject {
  const part = { text, ...(instructions !== undefined && { speechMetadata: { style: instructions } }) }
  return {
    contents: [{ role: 'user', parts: [part] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: {
        voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } },
        ...(language !== undefined && { languageCode: language }),
      },
    },
  }
}

type Media = { format: OutputFormat; bytes: Buffer }
type MediaStream = AsyncGenerator<Media, void, undefined>

/** Yields samples without their header, which may be spread over several events. Throws ProviderError. */
async function* samplesOf(answer: StreamedAnswer, apiKey: string | null, limits: OutboundLimits): MediaStream {
  let start: Media | null = null
  let format: OutputFormat | null = null
  for await (const media of mediaOf(answer, apiKey, limits)) {
    if (format) yield { ...media, format }
    else {
      start = start ? { ...media, bytes: Buffer.concat([start.bytes, media.bytes]) } : media
      const body = headerOf(start)
      format = body?.format ?? null
      if (body && body.bytes.length > 0) yield body
    }
  }
}

/** Requires a finish reason at the end, because speech that stops in the middle of a word is a failure. */
async function* mediaOf(answer: StreamedAnswer, apiKey: string | null, limits: OutboundLimits): MediaStream {
  let reason: unknown
  try {
    // One event may hold the whole speech, so the limit for whole responses applies.
    for await (const { data } of readEventStream(answer.body, limits.answerBytesMax)) {
      const piece = readAnswer(data, wire, apiKey)
      refuseBlocked(piece)
      const candidate = candidateOf(piece)
      reason = candidate?.['finishReason'] ?? reason
      for (const { inlineData } of partsOf(candidate)) {
        const media = isObject(inlineData) ? readMedia(inlineData) : null
        if (media && media.bytes.length > 0) yield media
      }
      if (reason === undefined) continue
      answer.body.discard()
      break
    }
  } catch (error) {
    throw toProviderError(error)
  }
  const finish = finishOf(reason)
  if (finish === 'filtered') throw filtered(reason)
  if (finish !== 'stop') throw protocolError('the limit of tokens cut the speech')
}

/** Reads `audio/L16;codec=pcm;rate=24000`. The vendor's samples are little-endian, unlike L16 in RFC 2586. */
function readMedia({ mimeType, data }: JsonObject): Media {
  const [type = '', ...parameters] = String(mimeType).toLowerCase().split(';')
  if (!types.has(type.trim()) || typeof data !== 'string') throw protocolError(`media ${type.slice(0, 64)}`)
  const rate = Number(/(?:^|;)\s*rate=(\d+)\s*(?:;|$)/.exec(parameters.join(';'))?.[1] ?? nativeSpeech.sampleRateHz)
  if (rate < 8000 || rate > 192_000) throw protocolError(`${rate} samples a second`)
  return { format: { ...nativeSpeech, sampleRateHz: rate }, bytes: Buffer.from(data, 'base64') }
}

const types: ReadonlySet<string> = new Set(['audio/l16', 'audio/pcm', 'audio/wav'])

/**
 * Returns the audio, beginning with the first part. The generator has already been started, so stopping the iteration
 * at any point closes the connection.
 */
function audioFrom(first: IteratorResult<Media, void>, media: MediaStream): AsyncIterable<Uint8Array> {
  let pending: IteratorResult<Media, void> | null = first
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const next = pending ?? (await media.next())
      pending = null
      return next.done ? { value: undefined, done: true } : { value: next.value.bytes, done: false }
    },
    async return() {
      await media.return()
      return { value: undefined, done: true }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

const headerBytesMax = 65_536

/**
 * Removes the WAV header at the beginning, if there is one, and reads the format from it. Returns null if more bytes
 * are needed. Throws ProviderError `protocol`.
 */
export function headerOf(start: Media): Media | null {
  const mark = start.bytes.subarray(0, riff.length)
  if (!riff.subarray(0, mark.length).equals(mark)) return start
  try {
    const header = readStreamedWav(start.bytes)
    if (header) return { format: header.format, bytes: start.bytes.subarray(header.dataOffset) }
  } catch (error) {
    throw error instanceof AudioError ? protocolError(error.message) : error
  }
  if (start.bytes.length > headerBytesMax) throw protocolError('no samples')
  return null
}

const riff = Buffer.from('RIFF')
