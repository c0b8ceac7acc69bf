/** Keeps an engine loaded between sentences. */
import type { TtsOutput } from './tts-messages.ts'

/** Returns mono s16le samples at the engine's own rate. */
export type Speaker = { speak: (text: string, voice: string, speed: number) => Promise<TtsOutput> }

export class KeptSpeaker implements Speaker {
  readonly #open: () => Promise<Speaker>
  #opened: Promise<Speaker> | undefined

  constructor(open: () => Promise<Speaker>) {
    this.#open = open
  }

  /**
   * Loads the engine for the first sentence, and for the next sentence after a failure to load. After a WebAssembly
   * trap the engine is loaded again too, because its memory may be damaged.
   */
  async speak(text: string, voice: string, speed: number): Promise<TtsOutput> {
    const opened = (this.#opened ??= this.#open())
    const speaker = await opened.catch((error: unknown) => {
      this.#forget(opened)
      throw error
    })
    try {
      return await speaker.speak(text, voice, speed)
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) this.#forget(opened)
      throw error
    }
  }

  /** Another sentence may already have loaded another engine. */
  #forget(opened: Promise<Speaker>): void {
    if (this.#opened === opened) this.#opened = undefined
  }
}
