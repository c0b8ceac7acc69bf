/**
 * The entry file for a process that recognises recordings: it decodes, finds speech and recognises each segment. It
 * also aligns text with audio. Only fork starts it.
 */
import { joinSamples } from '../../../audio/join.ts'
import { type JobContext, serveJobs } from '../children/child-jobs.ts'
import type { WarmInput } from '../children/child-messages.ts'
import { openVad, type Vad } from '../vad/vad.ts'
import { alignedPlace } from './alignment.ts'
import { decodeMono } from './decode.ts'
import { type Moonshine, moonshineRateHz, openMoonshine } from './moonshine.ts'
import { Segmenter, type SpeechSegment } from './segmenter.ts'
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
const stepSamples = 4 * moonshineRateHz

let models: Promise<[Vad, Moonshine]> | undefined

/**
 * The audio format for the first job after the start. An 8 kHz telephone format, so that the resampler is loaded too.
 */
const warmUpFormat = { container: 'raw', encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
const warmUpMs = 1000
const warmUpBytes = 16_000

serveJobs<SttInput | AlignInput | WarmInput, SttOutput | AlignOutput>(async (input, context) => {
  const [vad, moonshine] = await (models ??= open())
  if ('warm' in input) {
    const noise = once(Uint8Array.from({ length: warmUpBytes }, (_, index) => (index * 37) % 251))
    const audio = decodeMono({ format: warmUpFormat, durationMs: warmUpMs, pieces: noise }, moonshineRateHz)
    for await (const { samples } of findSpeech(vad, audio, context)) await moonshine.transcribe(samples, context.signal)
    // The warm-up recording is noise without speech, so the loop above probably recognized nothing. This recognition
    // warms up the recognition model.
    await moonshine.transcribe(new Float32Array(moonshineRateHz), context.signal)
    return { segments: [] }
  }
  const audio = decodeMono({ ...input, pieces: context.pieces }, moonshineRateHz)
  if ('alignText' in input)
    return { place: await alignedPlace(moonshine, input.alignText, await whole(audio), context.signal) }
  const segments: SttOutput['segments'] = []
  for await (const { samples, startMs, endMs } of findSpeech(vad, audio, context)) {
    const text = await moonshine.transcribe(samples, context.signal)
    if (text !== '') segments.push({ text, startMs, endMs })
    context.progress(endMs)
  }
  return { segments }
})

async function whole(audio: AsyncIterable<Float32Array>): Promise<Float32Array> {
  const parts: Float32Array[] = []
  for await (const part of audio) parts.push(part.slice())
  return joinSamples(parts)
}

async function* once(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(piece)
}

/** Loads the models. After a failure the next job tries again. */
async function open(): Promise<[Vad, Moonshine]> {
  try {
    return [await openVad(), await openMoonshine()]
  } catch (error) {
    models = undefined
    throw error
  }
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
