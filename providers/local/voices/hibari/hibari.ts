/**
 * The voice engine hibari (Apache-2.0, distilled from Kokoro-82M) turns a sentence into 24 kHz mono samples: phonemes,
 * then a graph to predict each frame's spectrum, then samples.
 */
import type { WordEnd } from '../../../../domain/ports/tts.ts'
import type { TtsOutput } from '../tts-messages.ts'
import { shortened } from './faster.ts'
import { Graph } from './graph.ts'
import { raised } from './level.ts'
import { type Part, Phonemizer } from './phonemes.ts'
import { hibariRateHz, Waveform } from './waveform.ts'

/**
 * The limit for phonemes in one run, about eight seconds of speech. A longer run needs more memory: with 200 phonemes
 * the process was 45 MB larger.
 */
const phonemesMax = 120
/** The graph begins with up to 0.4 s without sound. Only this much is kept, so that the speech is heard early. */
const leadMs = 60
/** The graph ends with about 0.5 s without sound. This much is kept as the pause between two sentences. */
const tailMs = 250
/** Samples quieter than this, below -46 dB, are silence. */
const silenceMax = 0.005
/** The graph cannot speak much faster than this. For a higher speed its speech is shortened. */
const graphSpeedMax = 1.5

export async function openHibari(): Promise<Hibari> {
  const [graph, phonemizer] = await Promise.all([Graph.open(), Phonemizer.open()])
  return new Hibari(graph, phonemizer)
}

export class Hibari {
  readonly #graph: Graph
  readonly #phonemizer: Phonemizer
  readonly #waveform = new Waveform()

  constructor(graph: Graph, phonemizer: Phonemizer) {
    this.#graph = graph
    this.#phonemizer = phonemizer
  }

  /** Synthesizes one sentence. `text` is plain ASCII. `speed` 1 is the voice's normal speed. */
  async speak(text: string, _voice: string, speed: number): Promise<TtsOutput> {
    const pieces: Uint8Array[] = []
    const ends: WordEnd[] = []
    let fromMs = 0
    for (const run of runsOf(await this.#phonemizer.read(text))) {
      const spoken = await this.#speakRun(run, speed)
      for (const { place, endMs } of spoken.ends) ends.push({ place, endMs: fromMs + endMs })
      pieces.push(bytesOf(raised(spoken.samples)))
      fromMs += durationMs(spoken.samples)
    }
    return { samples: Buffer.concat(pieces), ends }
  }

  async #speakRun(run: readonly Part[], speed: number): Promise<{ samples: Float32Array; ends: WordEnd[] }> {
    const ids = run.flatMap((part) => part.ids)
    const graphSpeed = Math.min(graphSpeedMax, speed)
    const { frames, endsMs } = await this.#graph.run(ids, graphSpeed)
    const skippedMs = Math.max(0, endsMs[0]! - leadMs)
    const whole = this.#waveform.samplesOf(frames).subarray(samplesIn(skippedMs))
    const lastLoud = whole.findLastIndex((sample) => Math.abs(sample) > silenceMax) + 1
    const spoken = whole.subarray(0, lastLoud + samplesIn(tailMs))
    const samples = speed > graphSpeed ? shortened(spoken, speed / graphSpeed) : spoken
    const ends: WordEnd[] = []
    let index = 0
    for (const { ids, place } of run) {
      index += ids.length
      // The last phoneme in the graph continues in the silence.
      const endMs = Math.min(endsMs[index]! - skippedMs, durationMs(whole.subarray(0, lastLoud)))
      if (place !== null) ends.push({ place, endMs: (endMs * graphSpeed) / speed })
    }
    return { samples, ends }
  }
}

const samplesIn = (ms: number) => Math.round((ms * hibariRateHz) / 1000)
const durationMs = ({ length }: Float32Array) => (length * 1000) / hibariRateHz
const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array) => new Uint8Array(buffer, byteOffset, byteLength)

/** Divides a sentence with too many phonemes after its last fitting pause, otherwise after its last fitting word. */
function runsOf(parts: readonly Part[]): Part[][] {
  const runs: Part[][] = []
  let rest = parts.map((part) => ({ ...part, ids: part.ids.slice(0, phonemesMax) }))
  while (rest.length > 0) {
    const fitting = fittingParts(rest)
    const pause = fitting < rest.length ? rest.slice(0, fitting).findLastIndex(({ isPause }) => isPause) : -1
    const end = pause > fitting / 3 ? pause + 1 : fitting
    runs.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return runs
}

function fittingParts(parts: readonly Part[]): number {
  let phonemes = 0
  const tooMany = parts.findIndex(({ ids }) => (phonemes += ids.length) > phonemesMax)
  return tooMany < 0 ? parts.length : Math.max(1, tooMany)
}
