/** The decoder's steps over one window. Each step takes one token and rates all possible next tokens. */
import * as ort from 'onnxruntime-node'

const heads = 8
const headWidth = 64

/** The encoder's output: the keys and values for the attention to the audio. */
export type EncodedAudio = ort.InferenceSession.OnnxValueMapType
type Cache = Readonly<Record<string, ort.Tensor>>

export class DecoderSteps {
  readonly #decoder: ort.InferenceSession
  readonly #audio: EncodedAudio
  readonly #cacheNames: readonly string[]
  #cache: Cache
  #place = 0

  constructor(decoder: ort.InferenceSession, audio: EncodedAudio) {
    this.#decoder = decoder
    this.#audio = audio
    this.#cacheNames = Object.keys(audio)
    this.#cache = this.#cacheOf(() => new ort.Tensor('float32', new Float32Array(0), [1, heads, 0, headWidth]))
  }

  /** Returns a logit for each possible next token. */
  async take(token: number): Promise<Float32Array> {
    const output = await this.#decoder.run({
      token: single(token),
      place: single(this.#place++),
      ...this.#cache,
      ...this.#audio,
    })
    this.#cache = this.#cacheOf((name) => output[`n${name}`] as ort.Tensor)
    return (output['logits'] as ort.Tensor).data as Float32Array
  }

  /** Returns a copy that has processed the same tokens, and continues independently. */
  fork(): DecoderSteps {
    const fork = new DecoderSteps(this.#decoder, this.#audio)
    fork.#cache = this.#cache
    fork.#place = this.#place
    return fork
  }

  #cacheOf(tensorOf: (name: string) => ort.Tensor): Cache {
    return Object.fromEntries(this.#cacheNames.map((name) => [`p${name}`, tensorOf(name)]))
  }
}

function single(value: number): ort.Tensor {
  return new ort.Tensor('int64', BigInt64Array.of(BigInt(value)), [1])
}
