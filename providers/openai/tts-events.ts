/**
 * POST /audio/speech as defined by Mistral: the server sends `speech.audio.delta` events with base64, then
 * `speech.audio.done`, and refuses unknown fields.
 */
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { EventReader, type StreamEvent } from '../../runtime/outbound/event-stream.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { protocolError, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import type { TtsFamily } from './tts-families.ts'
import { readObject } from './wire.ts'

type Parts = { limits: OutboundLimits; apiKey: string | null; signal: CancelSignal }

/** Returns the speech. Rejects with ProviderError, also while the audio is read. */
export async function speechOfEvents(
  http: VendorHttp,
  { model, text, voice }: TtsRequest,
  family: TtsFamily,
  { limits, apiKey, signal }: Parts,
): Promise<Speech> {
  const body = { model, input: text, voice_id: voice ?? family.defaultVoice, response_format: 'pcm', stream: true }
  const answer = await http.stream('/audio/speech', json(body), limits.audioBytesMax, signal)
  return { format: family.native, audio: new AudioEvents(answer, limits.eventCharsMax, apiKey) }
}

/**
 * Yields the audio. This is not a generator, because a generator does not close the connection if its reader stops
 * before the first `next`.
 */
class AudioEvents implements AsyncIterableIterator<Uint8Array> {
  readonly #answer: StreamedAnswer
  readonly #body: AsyncIterator<Uint8Array>
  readonly #reader: EventReader
  readonly #apiKey: string | null
  readonly #ready: Uint8Array[] = []
  #failure: Error | null = null
  #ended = false

  constructor(answer: StreamedAnswer, eventCharsMax: number, apiKey: string | null) {
    this.#answer = answer
    this.#body = answer.body[Symbol.asyncIterator]()
    this.#reader = new EventReader(eventCharsMax)
    this.#apiKey = apiKey
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const value = this.#ready.shift()
      if (value) return { value, done: false }
      if (this.#failure !== null) throw this.#failure
      if (this.#ended) return { value: undefined, done: true }
      try {
        const next = await this.#body.next()
        this.#read(next.done ? this.#reader.end() : this.#reader.read(next.value))
        if (next.done && !this.#ended) throw protocolError('ended without speech.audio.done')
      } catch (error) {
        // Audio received before the failure, in the same chunk, is delivered first.
        this.#failure = toProviderError(error) as Error
        await this.#body.return?.()
      }
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#ended = true
    this.#ready.length = 0
    await this.#body.return?.()
    return { value: undefined, done: true }
  }

  #read(events: readonly StreamEvent[]): void {
    for (const { data } of events) {
      const event = readObject(data, this.#apiKey)
      if (event['type'] === 'speech.audio.done') {
        this.#ended = true
        return this.#answer.body.discard()
      }
      if (event['type'] !== 'speech.audio.delta') continue
      if (typeof event['audio_data'] !== 'string') throw protocolError('a delta without audio')
      const audio = Buffer.from(event['audio_data'], 'base64')
      // An empty delta holds no audio.
      if (audio.length > 0) this.#ready.push(audio)
    }
    this.#reader.check()
  }
}
