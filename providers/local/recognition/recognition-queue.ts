/**
 * Shares one model among many streams. Final transcripts are recognized first and in order. A running interim
 * recognition is stopped when any stream needs a final transcript. So under load interim transcripts are dropped first.
 */
import type { SpeechLanguage, SpeechModel, SpeechText } from './speech-model.ts'

export class RecognitionQueue {
  readonly #model: SpeechModel
  readonly #waiting: Recognition[] = []
  #running: Recognition | undefined

  constructor(model: SpeechModel) {
    this.#model = model
  }

  get interimShareMax(): number {
    return this.#model.interimShareMax
  }

  final(samples: Float32Array, language: SpeechLanguage): Recognition {
    return this.#submit(new Recognition(samples, language, true))
  }

  interim(samples: Float32Array, language: SpeechLanguage): Recognition {
    return this.#submit(new Recognition(samples, language, false))
  }

  /** Makes an interim recognition a final recognition, because the utterance has ended without more speech. */
  makeFinal(recognition: Recognition): void {
    recognition.urgent = true
    this.#stopInterim()
  }

  cancel(recognition: Recognition): void {
    recognition.stop.abort()
    const at = this.#waiting.indexOf(recognition)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    recognition.settle(null)
  }

  #submit(recognition: Recognition): Recognition {
    this.#waiting.push(recognition)
    this.#stopInterim()
    if (!this.#running) void this.#work()
    return recognition
  }

  #stopInterim(): void {
    if (this.#running && !this.#running.urgent && this.#waiting.some(({ urgent }) => urgent)) this.#running.stop.abort()
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const next = this.#takeNext()
      this.#running = next
      try {
        next.settle(await this.#model.transcribe(next.samples, next.language, next.stop.signal))
      } catch (error) {
        if (next.stop.signal.aborted) next.settle(null)
        else next.fail(error)
      }
      this.#running = undefined
    }
  }

  #takeNext(): Recognition {
    const urgent = this.#waiting.findIndex((recognition) => recognition.urgent)
    return this.#waiting.splice(Math.max(0, urgent), 1)[0]!
  }
}

export class Recognition {
  readonly samples: Float32Array
  readonly language: SpeechLanguage
  readonly stop = new AbortController()
  urgent: boolean
  /**
   * The recognized speech. Null if the recognition was cancelled, or was stopped because a final recognition was
   * waiting.
   */
  readonly result: Promise<SpeechText | null>
  settle: (result: SpeechText | null) => void = () => {}
  fail: (error: unknown) => void = () => {}

  constructor(samples: Float32Array, language: SpeechLanguage, urgent: boolean) {
    this.samples = samples
    this.language = language
    this.urgent = urgent
    this.result = new Promise((resolve, reject) => {
      this.settle = resolve
      this.fail = reject
    })
    // If the stream closes first, no code awaits this promise. Without this handler a failure would then end the
    // process.
    this.result.catch(() => {})
  }
}
