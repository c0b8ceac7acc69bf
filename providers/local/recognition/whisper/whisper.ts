/**
 * Runs Whisper base (8-bit weights), which turns speech in 99 languages into text and finds the language. Decoding is
 * greedy, one token at a time.
 *
 * The model was trained on windows of 30 s. A short window takes a fraction of the time, but sometimes its text is said
 * twice. So a text that looks repeated or too long is decoded again in a whole window.
 */
import { setImmediate as eventLoop } from 'node:timers/promises'
import * as ort from 'onnxruntime-node'
import { logOfSum } from '../log-of-sum.ts'
import { type SpeechLanguage, type SpeechModel, type SpeechText, speechRateHz } from '../speech-model.ts'
import { DecoderSteps } from './decoder-steps.ts'
import { type LanguageCandidate, languageCandidates, ratingOf } from './language-choice.ts'
import { languageOf } from './languages.ts'
import { framesPerSecond, logMel, melBands } from './log-mel.ts'
import { repeatedTokens } from './repetition.ts'
import { Suppression } from './suppression.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * The shortest and longest window, and the silence after the speech. If these are shorter, the model repeats more texts
 * or cuts off their end.
 */
const windowS = { min: 10, max: 30, behind: 2 }
/**
 * If the audio has no speech with this probability, the text is empty. Measured: at most 0.51 with speech, at least
 * 0.78 with silence, noise and tones.
 */
const noSpeechMax = 0.6
/** If a text is longer than this for the audio's length, it was not spoken: fast speech has 20 characters a second. */
const charactersMax = { start: 30, perSecond: 25 }
/** Half of the decoder's positions, as in OpenAI's decoder. */
const tokensMax = 224
/**
 * If a text's end is repeated this often, decoding stops and the repetitions are removed. After a short window, the
 * audio is then decoded again in a whole window.
 */
const repetitionsMax = { shortWindow: 2, wholeWindow: 4 }

export type WhisperParts = {
  encoder: ort.InferenceSession
  decoder: ort.InferenceSession
  vocabulary: Vocabulary
}

type Decoded = { tokens: number[]; code: string; isSuspicious: boolean }
type Limits = { charactersMax: number; repetitionsMax: number; signal: AbortSignal }

export class Whisper implements SpeechModel {
  /** An interim recognition takes 0.2 to 0.4 s, and the next interim transcript should come within 0.8 s. */
  readonly interimShareMax = 1 / 2
  readonly #parts: WhisperParts
  readonly #suppression: Suppression

  constructor(parts: WhisperParts) {
    this.#parts = parts
    this.#suppression = new Suppression(parts.vocabulary)
  }

  async transcribe(samples: Float32Array, language: SpeechLanguage, signal: AbortSignal): Promise<SpeechText> {
    const shortS = Math.max(windowS.min, samples.length / speechRateHz + windowS.behind)
    let decoded = await this.#decodeIn(Math.min(shortS, windowS.max), samples, language, signal)
    if (decoded.isSuspicious && shortS < windowS.max) {
      const found = { ...language, requested: languageOf(decoded.code) }
      decoded = await this.#decodeIn(windowS.max, samples, found, signal)
    }
    const { tokens, code } = decoded
    const text = this.#parts.vocabulary.textOf(tokens).trim()
    if (text === '') return { text, language: language.requested ?? language.last ?? languageOf(code) }
    return { text, language: language.requested ?? languageOf(code) }
  }

  async #decodeIn(
    seconds: number,
    samples: Float32Array,
    language: SpeechLanguage,
    signal: AbortSignal,
  ): Promise<Decoded> {
    const { vocabulary, decoder } = this.#parts
    const steps = new DecoderSteps(decoder, await this.#encoded(samples, seconds))
    const first = await steps.take(vocabulary.startToken)
    const candidates = languageCandidates(first, vocabulary, language)
    const [{ code }] = candidates as [LanguageCandidate]
    const noSpeech = Math.exp((first[vocabulary.noSpeechToken] as number) - logOfSum(first))
    if (noSpeech > noSpeechMax) return { tokens: [], code, isSuspicious: false }
    return this.#likeliest(candidates, steps, {
      charactersMax: charactersMax.start + (samples.length / speechRateHz) * charactersMax.perSecond,
      repetitionsMax: seconds < windowS.max ? repetitionsMax.shortWindow : repetitionsMax.wholeWindow,
      signal,
    })
  }

  /** Decodes in each language, and returns the likeliest text. A text without a repetition is always preferred. */
  async #likeliest(candidates: readonly LanguageCandidate[], steps: DecoderSteps, limits: Limits): Promise<Decoded> {
    let best: (Decoded & { rating: number }) | undefined
    for (const candidate of candidates) {
      const { meanLog, ...text } = await this.#text(candidate.code, steps.fork(), limits)
      const rating = ratingOf(candidate, meanLog)
      const isBetter = !best || (best.isSuspicious === text.isSuspicious ? rating > best.rating : best.isSuspicious)
      if (isBetter) best = { ...text, code: candidate.code, rating }
    }
    return best as Decoded
  }

  async #text(code: string, steps: DecoderSteps, limits: Limits) {
    const { vocabulary } = this.#parts
    await steps.take(vocabulary.languageToken(code))
    await steps.take(vocabulary.transcribeToken)
    let logits = await steps.take(vocabulary.noTimestampsToken)
    const tokens: number[] = []
    let characters = 0
    let sumOfLogs = 0
    for (;;) {
      const token = this.#suppression.likeliest(logits, tokens.length === 0)
      sumOfLogs += (logits[token] as number) - logOfSum(logits)
      const meanLog = sumOfLogs / (tokens.length + 1)
      if (token === vocabulary.endToken) return { tokens, meanLog, isSuspicious: false }
      tokens.push(token)
      characters += vocabulary.charactersIn(token)
      const repeated = repeatedTokens(tokens, limits.repetitionsMax)
      if (repeated > 0 || characters > limits.charactersMax || tokens.length >= tokensMax)
        return { tokens: tokens.slice(0, tokens.length - repeated), meanLog, isSuspicious: true }
      // The ONNX runtime computes in this thread. Without this pause the message `stop` would be read only after the
      // last token.
      await eventLoop()
      limits.signal.throwIfAborted()
      logits = await steps.take(token)
    }
  }

  #encoded(samples: Float32Array, seconds: number): Promise<ort.InferenceSession.OnnxValueMapType> {
    // The encoder halves the number of frames, so the number must be even.
    const frames = 2 * Math.ceil((seconds * framesPerSecond) / 2)
    const mel = new ort.Tensor('float32', logMel(samples, frames), [1, melBands, frames])
    return this.#parts.encoder.run({ mel })
  }
}
