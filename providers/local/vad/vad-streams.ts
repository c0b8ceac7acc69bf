/**
 * Runs Silero VAD for many streams at a time. One model run processes one frame from each stream, because a frame costs
 * 37 µs in a run with 32 frames, but 122 µs in a separate run (measured on one core).
 */
import * as ort from 'onnxruntime-node'
import { vadFrameSamples, vadRateHz } from '../../../domain/ports/vad.ts'
import type { VadAnswer, VadBatch } from './vad-messages.ts'

/** The model's input begins with the previous frame's last samples. */
const contextSamples = 64
const inputSamples = contextSamples + vadFrameSamples
/** A stream's model state is one vector per layer. */
const layers = 2
const vectorLength = 128
const fullScale = 32_768

/**
 * The state is reset after about a second of silence, because after a long silence the model may not detect the first
 * word. In a test, 256 ms of a recorded "please" were rated as no speech, so the turn ended within a sentence. With a
 * fresh state the word was detected.
 */
const silentBelow = 0.15
const forgetsAfterFrames = 30

type Stream = { context: Float32Array; state: Float32Array; silentFrames: number }

export class VadStreams {
  readonly #session: ort.InferenceSession
  readonly #rateHz = new ort.Tensor('int64', BigInt64Array.of(BigInt(vadRateHz)), [])
  readonly #streams = new Map<number, Stream>()

  constructor(session: ort.InferenceSession) {
    this.#session = session
  }

  async answer(batch: VadBatch): Promise<VadAnswer> {
    const probabilities = new Float32Array(batch.streams.length)
    for (const frames of rounds(batch.streams)) await this.#run(batch, frames, probabilities)
    for (const id of batch.closed) this.#streams.delete(id)
    return { probabilities }
  }

  /** Runs the model once. `frames` are indexes in the batch, at most one for each stream. */
  async #run(batch: VadBatch, frames: readonly number[], probabilities: Float32Array): Promise<void> {
    const count = frames.length
    const streams = frames.map((frame) => this.#stream(batch.streams[frame]!))
    const input = new Float32Array(count * inputSamples)
    const state = new Float32Array(layers * count * vectorLength)
    streams.forEach((stream, row) => {
      writeInput(input.subarray(row * inputSamples), stream.context, frameOf(batch, frames[row]!))
      for (let layer = 0; layer < layers; layer++)
        state.set(vectorOf(stream, layer), (layer * count + row) * vectorLength)
    })
    const output = await this.#session.run({
      input: new ort.Tensor('float32', input, [count, inputSamples]),
      state: new ort.Tensor('float32', state, [layers, count, vectorLength]),
      sr: this.#rateHz,
    })
    const next = output['stateN']!.data as Float32Array
    streams.forEach((stream, row) => {
      for (let layer = 0; layer < layers; layer++) {
        const at = (layer * count + row) * vectorLength
        vectorOf(stream, layer).set(next.subarray(at, at + vectorLength))
      }
      stream.context.set(input.subarray((row + 1) * inputSamples - contextSamples, (row + 1) * inputSamples))
      const probability = output['output']!.data[row] as number
      probabilities[frames[row]!] = probability
      forgetSilence(stream, probability)
    })
  }

  #stream(id: number): Stream {
    const existing = this.#streams.get(id)
    if (existing) return existing
    const stream = {
      context: new Float32Array(contextSamples),
      state: new Float32Array(layers * vectorLength),
      silentFrames: 0,
    }
    this.#streams.set(id, stream)
    return stream
  }
}

function forgetSilence(stream: Stream, probability: number): void {
  stream.silentFrames = probability < silentBelow ? stream.silentFrames + 1 : 0
  if (stream.silentFrames < forgetsAfterFrames) return
  stream.silentFrames = 0
  stream.state.fill(0)
}

/**
 * Distributes a batch's frames to model runs ("rounds"): each stream's first frame is in the first run, its second
 * frame in the second run, and so on.
 */
function rounds(streams: Uint32Array): number[][] {
  const counts = new Map<number, number>()
  const all: number[][] = []
  streams.forEach((id, frame) => {
    const round = counts.get(id) ?? 0
    counts.set(id, round + 1)
    const frames = all[round]
    if (frames) frames.push(frame)
    else all[round] = [frame]
  })
  return all
}

function writeInput(row: Float32Array, context: Float32Array, samples: Int16Array): void {
  row.set(context)
  for (let i = 0; i < vadFrameSamples; i++) row[contextSamples + i] = samples[i]! / fullScale
}

const frameOf = ({ samples }: VadBatch, frame: number) =>
  samples.subarray(frame * vadFrameSamples, (frame + 1) * vadFrameSamples)

const vectorOf = ({ state }: Stream, layer: number) => state.subarray(layer * vectorLength, (layer + 1) * vectorLength)
