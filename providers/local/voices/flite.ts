/**
 * Flite (Carnegie Mellon) turns a sentence into 16 kHz mono samples. Each sentence runs the whole program in a new
 * WebAssembly instance.
 */
import { ChunkedBytes } from '../../../audio/chunked-bytes.ts'
import { readWav } from '../../../audio/wav.ts'
import type { WordEnd } from '../../../domain/ports/tts.ts'
import { readWeights } from '../weights/weights.ts'
import { fliteWordEnds } from './flite-words.ts'
import type { TtsOutput } from './tts-messages.ts'
import { runWasi } from './wasi.ts'

export const fliteRateHz = 16000
/**
 * The output's limit: three minutes of audio. 300 characters at a quarter of the usual speed need less than two
 * minutes.
 */
const outputBytesMax = 180 * fliteRateHz * 2

export async function openFlite(): Promise<Flite> {
  return new Flite(await WebAssembly.compile(await readWeights('flite')))
}

export class Flite {
  readonly #module: WebAssembly.Module

  constructor(module: WebAssembly.Module) {
    this.#module = module
  }

  /** Synthesizes one sentence. `text` is plain ASCII. `speed` 1 is the voice's normal speed. */
  async speak(text: string, voice: string, speed: number): Promise<TtsOutput> {
    // After `-t` the next argument is always the text. Without `-t` a text could be read as a file name or an option.
    const args = ['flite', '-voice', voice, '--setf', `duration_stretch=${1 / speed}`, '-t', text, '-o', '/speech.wav']
    let ends: WordEnd[] = []
    const { exitCode, output } = await runWasi(this.#module, args, outputBytesMax, (memory) => {
      ends = fliteWordEnds(memory, text)
    })
    if (exitCode !== 0) throw new Error(`flite exit ${exitCode}`)
    const wav = readWav(new ChunkedBytes([output]))
    if (wav.format.sampleRateHz !== fliteRateHz) throw new Error(`flite spoke at ${wav.format.sampleRateHz} Hz`)
    return { samples: output.subarray(wav.dataOffset, wav.dataOffset + wav.dataBytes), ends }
  }
}
