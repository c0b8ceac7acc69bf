/** Simulates a joined person on a test clock. The person speaks words or a recorded voice, and keeps received audio. */
import type { MediaSink, MediaTransport, SessionEvent } from '../../domain/ports/media.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import { rateHz, sampleOf, wordAt } from './caller.ts'

const tickMs = 10
const tickSamples = (rateHz / 1000) * tickMs

export class SimulatedPerson implements MediaTransport {
  readonly sampleRateHz = rateHz
  readonly events: SessionEvent[] = []
  closed: EndReason | null = null
  #frames: Int16Array[] = []
  #sink: MediaSink | null = null
  #words: number[] = []
  #voice: Int16Array = new Int16Array(0)
  /** If true, silence is sent too, like from a microphone. */
  hasMicrophone = false

  join(sink: MediaSink): void {
    this.#sink = sink
  }

  frame(samples: Int16Array): void {
    this.#frames.push(samples.slice())
  }

  mark: MediaTransport['mark'] = () => {
    throw new Error('people get no marks')
  }

  clear: MediaTransport['clear'] = () => {
    throw new Error('people get no clears')
  }

  notify(event: SessionEvent): void {
    this.events.push(event)
  }

  close(reason: EndReason): void {
    this.closed = reason
  }

  /** Speaks the text. Each word takes 50 ms per letter. */
  say(text: string): void {
    this.hasMicrophone = true
    for (const word of text.split(' '))
      for (let tick = 0; tick < Math.max(10, word.length * 5); tick++) this.#words.push(sampleOf(word, 'user'))
  }

  speak(voice: Int16Array): void {
    this.hasMicrophone = true
    this.#voice = voice
  }

  /** Sends 10 ms of audio. */
  step(): void {
    if (!this.hasMicrophone || this.closed !== null) return
    const voice = this.#voice.subarray(0, tickSamples)
    this.#voice = this.#voice.subarray(voice.length)
    if (voice.length === tickSamples) return this.#sink?.audio(voice)
    this.#sink?.audio(new Int16Array(tickSamples).fill(this.#words.shift() ?? 0))
  }

  /** Returns all audio received since this method was last called. */
  received(): Int16Array {
    const samples = Int16Array.from(this.#frames.flatMap((frame) => [...frame]))
    this.#frames = []
    return samples
  }

  leave(): void {
    this.#sink?.hangUp()
  }
}

/** Returns the words in samples from one side's voice. */
export function wordsIn(samples: Int16Array, of: 'user' | 'agent'): string {
  const list: string[] = []
  let last: string | null = null
  for (const sample of samples) {
    const word = wordAt(sample, of)
    if (word !== null && word !== last) list.push(word)
    last = word
  }
  return list.join(' ')
}
