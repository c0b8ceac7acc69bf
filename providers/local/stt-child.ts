/** Entry of the process that recognises speech: decode, find speech, recognise each stretch. Started by fork only. */
import { type JobContext, serveJobs } from './child-jobs.ts'
import { decodeMono } from './decode.ts'
import type { SttInput, SttOutput } from './messages.ts'
import { type Moonshine, moonshineRateHz, openMoonshine } from './moonshine.ts'
import { Segmenter, type SpeechSegment } from './segmenter.ts'
import { openVad, type Vad } from './vad.ts'

let models: Promise<[Vad, Moonshine]> | undefined

serveJobs<SttInput, SttOutput>(async ({ format }, context) => {
  models ??= Promise.all([openVad(), openMoonshine()])
  const [vad, moonshine] = await models
  const segments: SttOutput['segments'] = []
  for await (const { samples, startMs, endMs } of findSpeech(
    vad,
    decodeMono(format, context.pieces, moonshineRateHz),
    context,
  )) {
    const text = await moonshine.transcribe(samples, context.signal)
    if (text !== '') segments.push({ text, startMs, endMs })
    context.progress(endMs)
  }
  return { segments }
})

async function* findSpeech(
  vad: Vad,
  audio: AsyncIterable<Float32Array>,
  { signal }: JobContext,
): AsyncGenerator<SpeechSegment> {
  const segmenter = new Segmenter(vad)
  for await (const samples of audio) {
    signal.throwIfAborted()
    yield* segmenter.push(samples)
  }
  yield* segmenter.end()
}
