/**
 * Converts a stream's samples for a realtime session. A session accepts only mono s16le at 24 kHz and, at most servers,
 * G.711 at 8 kHz.
 */
import {
  convertChannels,
  decodeSamples,
  encodeSamples,
  frameBytes,
  isSampleEncoding,
  type SampleEncoding,
} from '../../audio/pcm.ts'
import type { Resampler } from '../../audio/resample.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamAudio } from '../../domain/ports/stt.ts'
import { createResampler } from '../../runtime/optional.ts'
import { type JsonObject } from '../wire/json.ts'

const pcmHz = 24_000
const g711Hz = 8000

export class RealtimeAudio {
  /** The audio format for the session's configuration. */
  readonly format: JsonObject
  /** The number of audio bytes from the client for each base64 byte sent to the server. */
  readonly bytesInPerSent: number
  readonly bytesInPerMs: number
  readonly #encoding: SampleEncoding
  readonly #channels: number
  readonly #isConverted: boolean
  #resampler: Resampler | null

  /**
   * Creates a converter. If `takesG711` is true, the session accepts G.711 unchanged. Rejects with ProviderError
   * `unsupported` for compressed audio.
   */
  static async create({ encoding, sampleRateHz, channels }: StreamAudio, takesG711: boolean): Promise<RealtimeAudio> {
    if (!isSampleEncoding(encoding)) throw new ProviderError('unsupported', { sent: false, cause: `raw ${encoding}` })
    const isPcm = encoding === 'pcm_s16le'
    const isPassed = channels === 1 && sampleRateHz === (isPcm ? pcmHz : g711Hz) && (isPcm || takesG711)
    const isResampled = !isPassed && sampleRateHz !== pcmHz
    const shape = { channels: 1, fromHz: sampleRateHz, toHz: pcmHz }
    const resampler = isResampled ? await createResampler(shape) : null
    return new RealtimeAudio({ encoding, sampleRateHz, channels }, isPassed, resampler)
  }

  private constructor(
    audio: StreamAudio & { encoding: SampleEncoding },
    isPassed: boolean,
    resampler: Resampler | null,
  ) {
    const { encoding, sampleRateHz, channels } = audio
    this.format =
      isPassed && encoding !== 'pcm_s16le' ? { type: g711Types[encoding] } : { type: 'audio/pcm', rate: pcmHz }
    this.bytesInPerMs = (sampleRateHz * frameBytes({ encoding, channels })) / 1000
    this.bytesInPerSent = isPassed ? 3 / 4 : (this.bytesInPerMs / ((pcmHz * 2) / 1000)) * (3 / 4)
    this.#encoding = encoding
    this.#channels = channels
    this.#isConverted = !isPassed
    this.#resampler = resampler
  }

  /**
   * Returns the converted audio as base64. Empty if all audio is still in the resampling filter. Does not change
   * `bytes`.
   */
  convert(bytes: Uint8Array): string {
    if (!this.#isConverted) return base64(bytes)
    const mono = convertChannels(decodeSamples(bytes, this.#encoding), this.#channels, 1)
    return base64(encodeSamples(this.#resampler ? this.#resampler.process(mono) : mono, 'pcm_s16le'))
  }

  /** Returns the audio still in the resampling filter, as base64. */
  flush(): string {
    return this.#resampler ? base64(encodeSamples(this.#resampler.flush(), 'pcm_s16le')) : ''
  }

  /** Closes the resampler only at the first call: a resampler closed twice would be reused for two streams at once. */
  close(): void {
    this.#resampler?.close()
    this.#resampler = null
  }
}

const g711Types: Partial<Record<SampleEncoding, string>> = { mulaw: 'audio/pcmu', alaw: 'audio/pcma' }

const base64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64')
