/** Silero VAD v5 at 16 kHz rates each 32 ms frame's speech probability. */
import * as ort from 'onnxruntime-node'
import { vadFrameSamples } from '../../../domain/ports/vad.ts'
import { openSession } from '../weights/onnx.ts'

/** The model's input begins with the previous frame's last samples. */
const contextSamples = 64
const rateHz = new ort.Tensor('int64', BigInt64Array.of(16000n), [])

export async function openVad(): Promise<Vad> {
  return new Vad(await openSession('sileroVad'))
}

/** Voice activity detection for one stream at a time. Call `reset` between recordings. */
export class Vad {
  readonly #session: ort.InferenceSession
  #state = emptyState()
  #context = new Float32Array(contextSamples)

  constructor(session: ort.InferenceSession) {
    this.#session = session
  }

  /** Returns another `Vad` that shares this model's weights, for a second stream at the same time. */
  another(): Vad {
    return new Vad(this.#session)
  }

  reset(): void {
    this.#state = emptyState()
    this.#context = new Float32Array(contextSamples)
  }

  /** Returns the probability for speech in a frame. The frame's length must be `vadFrameSamples`. */
  async speechProbability(frame: Float32Array): Promise<number> {
    const input = new Float32Array(contextSamples + vadFrameSamples)
    input.set(this.#context)
    input.set(frame, contextSamples)
    this.#context = input.slice(-contextSamples)
    const output = await this.#session.run({
      input: new ort.Tensor('float32', input, [1, input.length]),
      state: this.#state,
      sr: rateHz,
    })
    this.#state = output['stateN'] as ort.Tensor
    return output['output']!.data[0] as number
  }
}

function emptyState(): ort.Tensor {
  return new ort.Tensor('float32', new Float32Array(256), [2, 1, 128])
}
