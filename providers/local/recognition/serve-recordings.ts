/**
 * A process that recognizes recordings: it decodes, finds speech and recognizes each segment. If the model can align,
 * the process also aligns text with audio.
 */
import { joinSamples } from '../../../audio/join.ts'
import { type JobContext, serveJobs } from '../children/child-jobs.ts'
import type { WarmInput } from '../children/child-messages.ts'
import { openVad, type Vad } from '../vad/vad.ts'
import { decodeMono } from './decode.ts'
import { Segmenter, type SpeechSegment } from './segmenter.ts'
import { type SpeechModel, speechRateHz } from './speech-model.ts'
import type { AlignInput, AlignOutput, SttInput, SttOutput } from './stt-messages.ts'

/**
 * A silence of this length closes a segment. Latency does not matter in a recording, so the pause is longer than in a
 * stream, to keep sentences together.
 */
const pauseMs = 640

/**
 * Four seconds in samples. Long audio is handled in these steps and a cancelled job stops between two steps, because a
 * decoder can return minutes at once.
 */
const stepSamples = 4 * speechRateHz

/**
 * The audio format for the first job after the start. An 8 kHz telephone format, so that the resampler is loaded too.
 */
const warmUpFormat = { container: 'raw', encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
const warmUpMs = 1000
const warmUpBytes = 16_000

export type RecordingModel<Model extends SpeechModel> = {
  openModel: () => Promise<Model>
  /** Finds the position in the text where the speech ends. Absent if the model cannot align. */
  align?: (model: Model, text: string, samples: Float32Array, signal: AbortSignal) => Promise<number>
}

export function serveRecordings<Model extends SpeechModel>({ openModel, align }: RecordingModel<Model>): void {
  let models: Promise<[Vad, Model]> | undefined
  /** Loads the models. After a failure the next job tries again. */
  const open = async (): Promise<[Vad, Model]> => {
    try {
      return [await openVad(), await openModel()]
    } catch (error) {
      models = undefined
      throw error
    }
  }
  serveJobs<SttInput | AlignInput | WarmInput, SttOutput | AlignOutput>(async (input, context) => {
    const [vad, model] = await (models ??= open())
    if ('warm' in input) return warmUp(vad, model, context)
    const audio = decodeMono({ ...input, pieces: context.pieces }, speechRateHz)
    if (!('alignText' in input)) return recognized(vad, model, { audio, language: input.language }, context)
    if (!align) throw new Error('this model cannot align')
    return { place: await align(model, input.alignText, await whole(audio), context.signal) }
  })
}

async function warmUp(vad: Vad, model: SpeechModel, context: JobContext): Promise<SttOutput> {
  const noise = once(Uint8Array.from({ length: warmUpBytes }, (_, index) => (index * 37) % 251))
  const audio = decodeMono({ format: warmUpFormat, durationMs: warmUpMs, pieces: noise }, speechRateHz)
  await recognized(vad, model, { audio, language: null }, { ...context, progress: () => {} })
  // The warm-up recording is noise without speech, so the line above probably recognized nothing. This recognition
  // warms up the recognition model.
  await model.transcribe(new Float32Array(speechRateHz), { requested: null, last: null }, context.signal)
  return { segments: [] }
}

async function recognized(
  vad: Vad,
  model: SpeechModel,
  { audio, language }: { audio: AsyncIterable<Float32Array>; language: string | null },
  context: JobContext,
): Promise<SttOutput> {
  const segments: SttOutput['segments'] = []
  for await (const { samples, startMs, endMs } of findSpeech(vad, audio, context)) {
    const last = segments.at(-1)?.language ?? null
    const speech = await model.transcribe(samples, { requested: language, last }, context.signal)
    if (speech.text !== '') segments.push({ ...speech, startMs, endMs })
    context.progress(endMs)
  }
  return { segments }
}

async function whole(audio: AsyncIterable<Float32Array>): Promise<Float32Array> {
  const parts: Float32Array[] = []
  for await (const part of audio) parts.push(part.slice())
  return joinSamples(parts)
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(piece)
}

async function* findSpeech(
  vad: Vad,
  audio: AsyncIterable<Float32Array>,
  { signal }: JobContext,
): AsyncGenerator<SpeechSegment> {
  const segmenter = new Segmenter(vad, pauseMs)
  for await (const samples of audio) {
    for (let at = 0; at < samples.length; at += stepSamples) {
      signal.throwIfAborted()
      yield* segmenter.push(samples.subarray(at, at + stepSamples))
    }
  }
  yield* segmenter.end()
}
