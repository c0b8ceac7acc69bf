/**
 * Simulates engines for speech and LLM on a test clock: recognition 30 ms late, an LLM with chunks 10 ms apart, a voice
 * with chunks of 20 ms.
 */
import type { LlmEvent, LlmItem, LlmRequest } from '../../domain/ports/llm.ts'
import type { Stt, SttStream, SttStreamSink } from '../../domain/ports/stt.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tts, TtsRequest } from '../../domain/ports/tts.ts'
import { type Vad, vadFrameSamples } from '../../domain/ports/vad.ts'
import { failure, usage } from '../domain/fakes.ts'
import { letterMs, rateHz, sampleOf, wordAt } from './caller.ts'

const sttMs = 30
const ttsMs = 20
const chunkSamples = (rateHz / 1000) * 20

/**
 * Recognizes words by their samples. It sends an interim transcript after each word, and a final transcript after a
 * flush. If `isQuick`, it also sends an interim transcript as soon as a word begins.
 */
export class StubStt implements SttStream {
  readonly bufferedBytes = 0
  flushes = 0
  isClosed = false
  readonly #clock: Clock
  readonly #sink: SttStreamSink
  readonly #isQuick: boolean
  #samples = 0
  #words: string[] = []
  #last: string | null = null
  #lastSamples = 0
  #startMs = 0
  #utterance = 0

  constructor(clock: Clock, sink: SttStreamSink, isQuick: boolean) {
    this.#clock = clock
    this.#sink = sink
    this.#isQuick = isQuick
  }

  audio(bytes: Uint8Array): void {
    const samples = new Int16Array(bytes.slice().buffer)
    this.#samples += samples.length
    // An echo is a word spoken by the agent, ten times quieter.
    const word = wordAt(samples[0] ?? 0, 'user') ?? wordAt((samples[0] ?? 0) * 10, 'agent')
    if (word === this.#last) return void (this.#lastSamples += samples.length)
    if (this.#last !== null) this.#wordEnded(this.#last)
    this.#last = word
    this.#lastSamples = samples.length
    if (word === null) return
    if (this.#words.length === 0) this.#startMs = this.#nowMs
    this.#words.push(word)
    if (this.#isQuick) this.#send(false)
  }

  /** Ends a word. If too little of its audio came, the word is not recognized. */
  #wordEnded(word: string): void {
    const isCut = this.#lastSamples < ((word.length * letterMs) / 2) * (rateHz / 1000)
    if (isCut) this.#words.pop()
    if (this.#words.length > 0) this.#send(false)
  }

  /** Sends a final transcript. If a word is not complete yet, it belongs to the next final transcript. */
  flush(): void {
    this.flushes += 1
    const begun = this.#last === null ? [] : this.#words.splice(-1)
    if (this.#words.length > 0) this.#send(true)
    if (begun.length > 0) this.#startMs = this.#nowMs
    this.#words.push(...begun)
  }

  fail(error: Parameters<SttStreamSink['failed']>[0]): void {
    this.#sink.failed(error)
  }

  end(): void {}

  close(): void {
    this.isClosed = true
  }

  get #nowMs(): number {
    return this.#samples / (rateHz / 1000)
  }

  #send(isFinal: boolean): void {
    const text = this.#words.join(' ')
    const transcript = {
      utterance: this.#utterance,
      text,
      isFinal,
      speechFinal: isFinal,
      startMs: this.#startMs,
      endMs: this.#nowMs,
    }
    if (isFinal) {
      this.#utterance += 1
      this.#words = []
    }
    this.#clock.after(sttMs, () => {
      if (!this.isClosed) this.#sink.transcript(transcript)
    })
  }
}

export function stubStt(clock: Clock, streams: StubStt[], { coldMs = 0, isQuick = false }): Stt {
  return {
    transcribe: () => Promise.reject(new Error('only streams')),
    open: async (_request, sink) => {
      if (clock.monotonicMs() < coldMs) await later(clock, coldMs - clock.monotonicMs())
      const stream = new StubStt(clock, sink, isQuick)
      streams.push(stream)
      return stream
    },
  }
}

export function later(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

/** The stub LLM's answer: words, or tool calls, or a failure. */
export type Answer = string | { calls: { name: string; args: string }[]; text?: string } | Error

export type AnswerOf = (said: string, items: readonly LlmItem[], request: LlmRequest) => Answer

export async function* stubLlm(clock: Clock, request: LlmRequest, answerOf: AnswerOf): AsyncGenerator<LlmEvent> {
  const said = request.items.findLast((item) => item.type === 'message' && item.role === 'user')
  const answer = answerOf(said?.type === 'message' ? said.text : '', request.items, request)
  await later(clock, 10)
  if (answer instanceof Error) throw answer
  const text = typeof answer === 'string' ? answer : (answer.text ?? '')
  const length = Math.max(1, Math.ceil(text.length / 6))
  for (let at = 0; at < text.length; at += length) {
    yield { type: 'text', delta: text.slice(at, at + length) }
    await later(clock, 10)
  }
  const calls = typeof answer === 'string' ? [] : answer.calls
  for (const [index, { name, args }] of calls.entries()) {
    yield { type: 'call', index, callId: `call_${++callIds}`, name }
    yield { type: 'arguments', index, delta: args }
  }
  yield { type: 'end', stopReason: calls.length > 0 ? 'tool_call' : 'stop', usage }
}
let callIds = 0

/** Makes a voice whose words each have one sample value, so the caller can recognize them. */
export function stubTts(
  clock: Clock,
  asked: (request: TtsRequest) => void,
  isBroken: (text: string, chunk: number) => boolean,
  reportsWords: boolean,
): Tts {
  const pcm = { encoding: 'pcm_s16le', sampleRateHz: rateHz, channels: 1 } as const
  return {
    synthesize: (request) => {
      asked(request)
      if (reportsWords) reportWords(request)
      return Promise.resolve({ format: pcm, audio: speak(clock, request.text, isBroken) })
    },
  }
}

function reportWords({ text, onWordEnd }: TtsRequest): void {
  let letters = 0
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    letters += word.length
    onWordEnd?.({ place: index + word.length, endMs: letters * letterMs })
  }
}

async function* speak(
  clock: Clock,
  text: string,
  isBroken: (text: string, chunk: number) => boolean,
): AsyncGenerator<Uint8Array> {
  await later(clock, ttsMs)
  let chunk = 0
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const samples = new Int16Array((rateHz / 1000) * letterMs * word.length).fill(sampleOf(word, 'agent'))
    for (let at = 0; at < samples.length; at += chunkSamples) {
      if (isBroken(text, chunk++)) throw failure('server')
      yield new Uint8Array(samples.slice(at, at + chunkSamples).buffer)
    }
  }
}

/**
 * Makes a detector for which loud samples are speech. The result comes 5 ms after the frame is whole, and no result
 * comes before `coldMs`.
 */
export function stubVad(clock: Pick<Clock, 'monotonicMs' | 'after'>, coldMs: number, misses: () => boolean): Vad {
  return {
    open(onFrame) {
      let samples = 0
      let loudSamples = 0
      return {
        push(chunk) {
          for (const sample of chunk) {
            if (Math.abs(sample) > 200) loudSamples += 1
            if (++samples < vadFrameSamples) continue
            const probability = loudSamples > vadFrameSamples / 2 && !misses() ? 0.9 : 0.05
            samples = loudSamples = 0
            clock.after(Math.max(5, coldMs - clock.monotonicMs()), () => onFrame(probability))
          }
        },
        close: () => {},
      }
    },
    close: () => Promise.resolve(),
  }
}
