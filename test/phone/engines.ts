/**
 * Speech engines for tests of a whole product on a test clock. The provider `local` speaks and recognizes words as
 * tones (test/speech/tones.ts), so a test reads the exact words from a call's audio. Only the rule-based LLM is the
 * product's.
 */

import { Readable } from 'node:stream'
import type { App } from '../../app/app.ts'
import { type Engines, openProviders } from '../../app/engines.ts'
import type { Recording } from '../../audio/format.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Stt, SttStream, SttStreamRequest, SttStreamSink } from '../../domain/ports/stt.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Speech, Tts, TtsRequest } from '../../domain/ports/tts.ts'
import { vadFrameSamples } from '../../domain/ports/vad.ts'
import { type ReadWord, speak, WordReader, wordsIn } from '../speech/tones.ts'

const sttMs = 30
const ttsMs = 20
const vadMs = 5
const chunkMs = 100
/** Samples below this level are not speech. */
const loud = 200

export async function openWordEngines(app: App): Promise<Engines> {
  const providers = await openProviders(app, { isWarm: false })
  app.closing(() => Promise.all(providers.map((provider) => provider.close())))
  return { providers: providers.map((provider) => withWords(provider, app.clock)), vad: levelVad(app.clock) }
}

function withWords(provider: Provider, clock: Clock): Provider {
  if (provider.id !== 'local') return provider
  return { ...provider, ports: { ...provider.ports, speech: { stt: wordStt(clock), tts: wordTts(clock) } } }
}

function later(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

function wordTts(clock: Clock): Tts {
  return {
    async synthesize(request: TtsRequest): Promise<Speech> {
      const { sampleRateHz } = request.outputFormat
      const { samples, words } = speak(request.text, sampleRateHz)
      await later(clock, ttsMs)
      for (const word of words) request.onWordEnd?.(word)
      const format = { encoding: 'pcm_s16le', sampleRateHz, channels: 1 } as const
      return { format, audio: Readable.from(chunksOf(samples, (sampleRateHz * chunkMs) / 1000)) }
    },
  }
}

function* chunksOf(samples: Int16Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < samples.length; at += length) yield new Uint8Array(samples.slice(at, at + length).buffer)
}

function wordStt(clock: Clock): Stt {
  return {
    async transcribe({ recording }) {
      const words = wordsIn(samplesOf(recording), recording.format.sampleRateHz)
      await later(clock, sttMs)
      const timed = words.map(({ word, startMs, endMs }) => ({ text: word, startMs, endMs }))
      return { text: textOf(words), segments: [], words: timed }
    },
    open: (request, sink) => Promise.resolve(new WordStream(clock, request, sink)),
  }
}

function samplesOf({ chunks, dataOffset, dataBytes }: Recording): Int16Array {
  const bytes = Uint8Array.from(Buffer.concat(chunks).subarray(dataOffset, dataOffset + dataBytes))
  return new Int16Array(bytes.buffer)
}

const textOf = (words: readonly ReadWord[]) => words.map(({ word }) => word).join(' ')

/**
 * Recognizes tones. Sends an interim transcript for each word, and a final transcript after a flush or when the speaker
 * pauses.
 */
class WordStream implements SttStream {
  readonly bufferedBytes = 0
  readonly #clock: Clock
  readonly #sink: SttStreamSink
  readonly #request: SttStreamRequest
  readonly #reader: WordReader
  #words: ReadWord[] = []
  #interim = ''
  #utterance = 0
  #isClosed = false

  constructor(clock: Clock, request: SttStreamRequest, sink: SttStreamSink) {
    this.#clock = clock
    this.#sink = sink
    this.#request = request
    this.#reader = new WordReader(request.audio.sampleRateHz)
  }

  audio(bytes: Uint8Array): void {
    this.#words.push(...this.#reader.push(new Int16Array(bytes.slice().buffer)))
    const text = textOf(this.#all)
    if (text === this.#interim) return
    this.#interim = text
    if (text !== '' && this.#request.interimResults) this.#send(this.#all, false)
  }

  flush(): void {
    const words = this.#all
    if (words.length === 0) return
    this.#send(words, true)
    this.#utterance += 1
    this.#words = []
    this.#interim = ''
  }

  end(): void {
    this.flush()
    this.#clock.after(sttMs, () => {
      if (!this.#isClosed) this.#sink.ended()
    })
  }

  close(): void {
    this.#isClosed = true
  }

  /** Returns all words so far, with the unfinished word. */
  get #all(): ReadWord[] {
    const { word } = this.#reader
    return word === null ? this.#words : [...this.#words, word]
  }

  #send(words: readonly ReadWord[], isFinal: boolean): void {
    const transcript = {
      utterance: this.#utterance,
      text: textOf(words),
      isFinal,
      speechFinal: isFinal,
      startMs: words[0]?.startMs ?? 0,
      endMs: words.at(-1)?.endMs ?? 0,
    }
    this.#clock.after(sttMs, () => {
      if (!this.#isClosed) this.#sink.transcript(transcript)
    })
  }
}

/** Detects speech by its level: loud samples are speech. */
function levelVad(clock: Clock): Engines['vad'] {
  return {
    open(onFrame) {
      let samples = 0
      let loudSamples = 0
      return {
        push(chunk) {
          for (const sample of chunk) {
            if (Math.abs(sample) > loud) loudSamples += 1
            if (++samples < vadFrameSamples) continue
            const probability = loudSamples > vadFrameSamples / 2 ? 0.9 : 0.05
            samples = loudSamples = 0
            clock.after(vadMs, () => onFrame(probability))
          }
        },
        close: () => {},
      }
    },
    warmUp: () => {},
    close: () => Promise.resolve(),
  }
}
