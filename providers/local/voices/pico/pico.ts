/**
 * SVOX Pico turns a sentence into 16 kHz mono samples, in five languages. The program runs as one WebAssembly instance.
 * Each voice has its own memory in this instance, loaded when the voice is first needed.
 */
import openProgram, { type PicoModule } from '@echogarden/svoxpico-wasm'
import { readWeights } from '../../weights/weights.ts'
import type { TtsOutput } from '../tts-messages.ts'
import { ItemTaps } from './item-taps.ts'
import { type PicoVoiceId, picoRateHz, picoVoiceIds, readPicoVoice } from './pico-data.ts'
import { picoWords } from './pico-words.ts'

const bytesPerMs = (picoRateHz * 2) / 1000

/** Each voice's memory. The largest voice needs 1.3 MB for its files, and the engine needs 1 MB. */
const memoryBytes = 2_500_000
/** The limit for a sentence's audio: three minutes. */
const outputBytesMax = 180 * 1000 * bytesPerMs
/**
 * The engine adds a pause of 550 ms after a sentence. Only this much is kept, because in a conversation the pause would
 * delay the end of the agent's turn.
 */
const endPauseMs = 250

const [idle, busy] = [200, 201]
const nameBytesMax = 200
/** The engine returns at most 255 bytes in a step. */
const pieceBytesMax = 1024

type Voice = { system: number; name: number }

export async function openPico(): Promise<Pico> {
  return new Pico(await openProgram({ wasmBinary: await readWeights('pico') }))
}

export class Pico {
  readonly #module: PicoModule
  readonly #voices = new Map<PicoVoiceId, Promise<Voice>>()
  /** The program writes its results here. */
  readonly #out: number

  constructor(module: PicoModule) {
    this.#module = module
    this.#out = module._malloc(pieceBytesMax)
  }

  /** Synthesizes one sentence. `speed` 1 is the voice's normal speed. */
  async speak(text: string, voice: string, speed: number): Promise<TtsOutput> {
    const id = picoVoiceIds.find((each) => each === voice)
    if (id === undefined) throw new Error(`no voice ${voice}`)
    const loaded = await this.#voice(id)
    const engine = this.#newEngine(loaded)
    try {
      return this.#speakWith(engine, text, speed)
    } finally {
      // Each sentence has a new engine, so a failure cannot affect the next sentence.
      this.#dispose(loaded, engine)
    }
  }

  #speakWith(engine: number, text: string, speed: number): TtsOutput {
    const taps = new ItemTaps(this.#module, engine)
    const spoken = withoutMarkup(text)
    const pieces = this.#samples(
      engine,
      `<volume level="50"><speed level="${Math.round(speed * 100)}">${spoken}</speed></volume>`,
      taps,
    )
    const samples = Buffer.concat(pieces)
    const { ends, lastEndMs } = picoWords(taps, spoken)
    if (lastEndMs === null) return { samples: new Uint8Array(), ends: [] }
    return { samples: samples.subarray(0, (lastEndMs + endPauseMs) * bytesPerMs), ends }
  }

  #samples(engine: number, text: string, taps: ItemTaps): Uint8Array[] {
    const module = this.#module
    // A zero byte ends the text. Without it the engine would wait for more.
    const bytes = Buffer.from(`${text}\0`)
    const textAt = module._malloc(bytes.length)
    module.HEAPU8.set(bytes, textAt)
    try {
      const pieces: Uint8Array[] = []
      for (let at = 0; at < bytes.length; ) {
        this.#assertOk(module._pico_putTextUtf8(engine, textAt + at, bytes.length - at, this.#out), 'take a text')
        const taken = module.HEAP16[this.#out / 2] as number
        if (taken <= 0) throw new Error('pico takes no text')
        at += taken
        this.#readSamples(engine, pieces, taps)
      }
      return pieces
    } finally {
      module._free(textAt)
    }
  }

  /** Runs the engine until it has spoken all the text passed to it. */
  #readSamples(engine: number, pieces: Uint8Array[], taps: ItemTaps): void {
    const module = this.#module
    const [lengthAt, typeAt, samplesAt] = [this.#out, this.#out + 4, this.#out + 8]
    let total = pieces.reduce((sum, piece) => sum + piece.length, 0)
    for (let status = busy; status !== idle; ) {
      status = module._pico_getData(engine, samplesAt, pieceBytesMax - 8, lengthAt, typeAt)
      if (status !== idle && status !== busy) throw new Error(`pico cannot speak: ${status}`)
      taps.poll()
      const length = module.HEAP16[lengthAt / 2] as number
      if (length <= 0) continue
      pieces.push(module.HEAPU8.slice(samplesAt, samplesAt + length))
      total += length
      if (total > outputBytesMax) throw new Error('pico speaks too long')
    }
  }

  /** Loads a voice. After a failure the next job tries again. */
  #voice(id: PicoVoiceId): Promise<Voice> {
    const voice = this.#voices.get(id) ?? this.#load(id)
    this.#voices.set(id, voice)
    voice.catch(() => this.#voices.delete(id))
    return voice
  }

  async #load(id: PicoVoiceId): Promise<Voice> {
    const files = await readPicoVoice(id)
    const module = this.#module
    this.#assertOk(module._pico_initialize(module._malloc(memoryBytes), memoryBytes, this.#out), 'start')
    const system = this.#result()
    const resources = files.map(({ name, bytes }) => {
      module.FS.writeFile(name, bytes)
      const nameAt = this.#text(name)
      this.#assertOk(module._pico_loadResource(system, nameAt, this.#out), `load ${name}`)
      module._free(nameAt)
      module.FS.unlink(name)
      return this.#result()
    })
    const name = this.#text(id)
    this.#assertOk(module._pico_createVoiceDefinition(system, name), 'define a voice')
    const resourceName = module._malloc(nameBytesMax)
    for (const resource of resources) {
      this.#assertOk(module._pico_getResourceName(system, resource, resourceName), 'name a file')
      this.#assertOk(module._pico_addResourceToVoiceDefinition(system, name, resourceName), 'use a file')
    }
    module._free(resourceName)
    return { system, name }
  }

  #newEngine({ system, name }: Voice): number {
    this.#assertOk(this.#module._pico_newEngine(system, name, this.#out), 'make an engine')
    return this.#result()
  }

  #dispose({ system }: Voice, engine: number): void {
    this.#module.HEAPU32[this.#out / 4] = engine
    this.#module._pico_disposeEngine(system, this.#out)
  }

  #result(): number {
    return this.#module.HEAPU32[this.#out / 4] as number
  }

  /** Copies a text into the program's memory. */
  #text(text: string): number {
    const bytes = Buffer.from(`${text}\0`)
    const at = this.#module._malloc(bytes.length)
    this.#module.HEAPU8.set(bytes, at)
    return at
  }

  #assertOk(status: number, action: string): void {
    if (status !== 0) throw new Error(`pico cannot ${action}: ${status}`)
  }
}

/**
 * Replaces what the engine would read as markup or as a sentence without words: its tags can read and write files, and
 * it pauses half a second for "¿". Keeps each character's position.
 */
function withoutMarkup(text: string): string {
  return text.replaceAll(/[<>\0¿¡]/g, ' ')
}
