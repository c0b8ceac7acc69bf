/**
 * Runs Moonshine tiny-en (int8), which turns up to about 25 s of 16 kHz speech into English text. Decoding is greedy,
 * one token at a time.
 */
import { setImmediate as eventLoop } from 'node:timers/promises'
import tokenizer from 'llama-tokenizer-js'
import * as ort from 'onnxruntime-node'
import { openSession } from '../weights/onnx.ts'
import { logOfSum } from './log-of-sum.ts'
import { type SpeechLanguage, type SpeechModel, type SpeechText, speechRateHz } from './speech-model.ts'

const layers = 6
const heads = 8
const headWidth = 36
const startToken = 1
const endToken = 2
/**
 * The maximum number of tokens per second of speech. The model's authors set this bound against endless repetition.
 * Usual speech has 3 to 4 tokens a second.
 */
const tokensPerSecondMax = 6.5
/**
 * Silence added after the speech, because the model misrecognizes the last words if the audio ends directly after them.
 * The silence lowered the word error rate from 5.0 to 3.5 %.
 */
const silenceBehindSamples = speechRateHz
/**
 * An empty transcript is returned only above this probability. For telephone speech the likeliest text is often empty,
 * with a probability from 0.2 to 0.75, although the next best words are right ("Hello", "Yes, please put them
 * through."). Noise, tones and clicks reach 0.94 and more.
 */
const emptyMin = 0.75

export async function openMoonshine(): Promise<Moonshine> {
  return new Moonshine(await openSession('moonshineEncoder'), await openSession('moonshineDecoder'))
}

export class Moonshine implements SpeechModel {
  readonly interimShareMax = 1 / 3
  readonly #encoder: ort.InferenceSession
  readonly #decoder: ort.InferenceSession

  constructor(encoder: ort.InferenceSession, decoder: ort.InferenceSession) {
    this.#encoder = encoder
    this.#decoder = decoder
  }

  async transcribe(samples: Float32Array, _language: SpeechLanguage, signal: AbortSignal): Promise<SpeechText> {
    const encoded = await this.#encoded(samples)
    const tokens = [startToken]
    const clipS = (samples.length + silenceBehindSamples) / speechRateHz
    const tokensMax = Math.trunc(clipS * tokensPerSecondMax)
    const past = emptyPast()
    while (tokens.length <= tokensMax) {
      // The ONNX runtime computes in this thread. Without this pause the message `stop` would be read only after the
      // last token.
      await eventLoop()
      signal.throwIfAborted()
      const first = tokens.length === 1
      const output = await this.#decoder.run({ ...past, ...stepInput(tokens.at(-1)!, encoded, first) })
      const logits = output['logits']!.data as Float32Array
      if (first && !isEmpty(logits)) logits[endToken] = Number.NEGATIVE_INFINITY
      const token = greatest(logits)
      if (token === endToken) break
      tokens.push(token)
      keepPast(past, output, first)
    }
    return { text: tokenizer.decode(tokens, true, true).trim(), language: 'en' }
  }

  /** Rates how well a known text matches the audio, in one step. If `samples` is null, rates the text without audio. */
  async follow(tokens: readonly number[], samples: Float32Array | null): Promise<Followed> {
    const encoded = samples === null ? withoutAudio() : await this.#encoded(samples)
    const ids = BigInt64Array.from([startToken, ...tokens], BigInt)
    const output = await this.#decoder.run({
      ...emptyPast(),
      input_ids: new ort.Tensor('int64', ids, [1, ids.length]),
      encoder_hidden_states: encoded,
      use_cache_branch: new ort.Tensor('bool', [false], [1]),
    })
    const logits = output['logits']!.data as Float32Array
    const size = logits.length / ids.length
    const followed: Followed = { goesOn: [], ends: [], stops: [] }
    for (let at = 0; at < ids.length; at++) {
      const row = logits.subarray(at * size, (at + 1) * size)
      const whole = logOfSum(row)
      const token = tokens[at]
      if (token !== undefined) followed.goesOn.push(row[token]! - whole)
      followed.ends.push(row[endToken]! - whole)
      followed.stops.push(logOfSum(Float32Array.from(stopTokens, (stop) => row[stop]!)) - whole)
    }
    return followed
  }

  async #encoded(samples: Float32Array): Promise<ort.Tensor> {
    const clip = new Float32Array(samples.length + silenceBehindSamples)
    clip.set(samples)
    const input = new ort.Tensor('float32', clip, [1, clip.length])
    return (await this.#encoder.run({ input_values: input }))['last_hidden_state'] as ort.Tensor
  }
}

/**
 * Natural logarithms of probabilities, before each token and after the last token. `goesOn`: the text's next token
 * follows. `ends`: the text ends. `stops`: the text ends or a punctuation mark that ends a sentence follows.
 */
export type Followed = { goesOn: number[]; ends: number[]; stops: number[] }

/** Splits the text into tokens. `isWord` is true if a space comes before the text. */
export function tokensOf(text: string, isWord: boolean): number[] {
  return text === '' ? [] : tokenizer.encode(text, false, isWord)
}

const stopTokens = [endToken, ...['.', '?', '!', '...', '…'].map((mark) => tokensOf(mark, false)).flatMap(single)]

function single(tokens: readonly number[]): readonly number[] {
  return tokens.length === 1 ? tokens : []
}

/** Returns about one second of zeros in place of encoded audio. */
function withoutAudio(): ort.Tensor {
  const frames = 60
  return new ort.Tensor('float32', new Float32Array(frames * heads * headWidth), [1, frames, heads * headWidth])
}

function stepInput(token: number, encoded: ort.Tensor, first: boolean): Record<string, ort.Tensor> {
  return {
    input_ids: new ort.Tensor('int64', BigInt64Array.of(BigInt(token)), [1, 1]),
    encoder_hidden_states: encoded,
    use_cache_branch: new ort.Tensor('bool', [!first], [1]),
  }
}

function emptyPast(): Record<string, ort.Tensor> {
  const past: Record<string, ort.Tensor> = {}
  for (const name of pastNames(['decoder', 'encoder'])) {
    past[`past_key_values.${name}`] = new ort.Tensor('float32', new Float32Array(0), [0, heads, 1, headWidth])
  }
  return past
}

/**
 * Keeps the decoder's cached keys and values for the next step. The encoder's keys are computed only in the first step;
 * later outputs contain no useful values for them.
 */
function keepPast(
  past: Record<string, ort.Tensor>,
  output: ort.InferenceSession.OnnxValueMapType,
  first: boolean,
): void {
  for (const name of pastNames(first ? ['decoder', 'encoder'] : ['decoder'])) {
    past[`past_key_values.${name}`] = output[`present.${name}`] as ort.Tensor
  }
}

function pastNames(sides: readonly string[]): string[] {
  const names: string[] = []
  for (let layer = 0; layer < layers; layer++) {
    for (const side of sides) names.push(`${layer}.${side}.key`, `${layer}.${side}.value`)
  }
  return names
}

/** True if the first step's values show that the audio contains no words. */
function isEmpty(logits: Float32Array): boolean {
  return logits[endToken]! - logOfSum(logits) >= Math.log(emptyMin)
}

function greatest(values: Float32Array): number {
  let best = 0
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i
  return best
}
