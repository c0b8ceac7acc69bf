/** Runs the voice's ONNX graph: it turns phonemes into frames, and returns when each phoneme ends. */
import * as ort from 'onnxruntime-node'
import { openSession } from '../../weights/onnx.ts'
import type { Frames } from './spectrum.ts'
import { hibariRateHz, hop } from './waveform.ts'

/**
 * A value inside the graph, which is turned into an output: for each phoneme id, the time from the beginning to the
 * id's end.
 */
const durationSum = '/CumSum_output_0'
/** The phoneme id that the graph expects before and after the phonemes. */
const edgeId = 0n

const outputs = ['lh', 'theta', 'ln', 'lr', 'phi', 'f0'] as const

/** `endsMs` first has the end of the leading edge phoneme (`edgeId`), and then each phoneme's end. */
export type Predicted = { frames: Frames; endsMs: Float64Array }

export class Graph {
  readonly #session: ort.InferenceSession

  private constructor(session: ort.InferenceSession) {
    this.#session = session
  }

  static async open(): Promise<Graph> {
    return new Graph(await openSession('hibari', { output: durationSum, enableMemPattern: false }))
  }

  /** `speed` is between 0.25 and 1.5. */
  async run(ids: readonly number[], speed: number): Promise<Predicted> {
    const all = [edgeId, ...ids.map(BigInt), edgeId]
    const results = await this.#session.run({
      ids: new ort.Tensor('int64', BigInt64Array.from(all), [1, all.length]),
      speed: new ort.Tensor('float32', Float32Array.of(speed), [1]),
    })
    const frames = Object.fromEntries(outputs.map((name) => [name, results[name]?.data])) as Frames
    const sums = results[durationSum]?.data as BigInt64Array
    const durationMs = (frames.f0.length * hop * 1000) / hibariRateHz
    const unitMs = durationMs / Number(sums[all.length - 1])
    return { frames, endsMs: Float64Array.from(sums.subarray(0, all.length - 1), (sum) => Number(sum) * unitMs) }
  }
}
