import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat, Recording } from '../../audio/format.ts'
import { encodeSamples } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { createResampler } from '../../runtime/optional.ts'
import { recognised } from '../audio/build.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { fixture, longRecording, openLocal, outcome } from './setup.ts'

const convertSpeech = createConvertSpeech(createResampler)

const local = openLocal(t)
const prompt = spoken['privacy-prompt']
const errors = (expected: string, actual: string) => wordErrors(expected, actual).errors

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(chunk)
}

/** Returns the recorded prompt with another encoding, rate or number of channels. */
async function promptAs(to: OutputFormat & { encoding: 'pcm_f32le' | 'mulaw' | 'alaw' }): Promise<Recording> {
  const from = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
  const chunks: Uint8Array[] = []
  for await (const chunk of convertSpeech(once(readFixture('privacy-prompt').subarray(44)), from, to))
    chunks.push(chunk)
  return recognised(
    [
      wavHeader(
        to,
        chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      ),
      ...chunks,
    ],
    null,
  )
}

t.test('recorded prompts are recognized', async (t) => {
  for (const name of Object.keys(spoken) as (keyof typeof spoken)[]) {
    const { text, segments, language } = await local.transcribe(fixture(name))
    t.ok(errors(spoken[name], text) <= 1, `${name}: ${text}`)
    t.equal(segments.map((segment) => segment.text).join(' '), text)
    t.equal(language, 'en')
  }
  t.equal(local.started.length, 1, 'by one process')
})

t.test('recordings in every container are recognized', async (t) => {
  for (const extension of ['flac', 'mp3', 'opus', 'webm'] as const) {
    const recording = fixture('privacy-prompt', extension)
    const { text, segments } = await local.transcribe(recording)
    t.equal(errors(prompt, text), 0, `${extension}: ${text}`)
    t.ok(segments.every(({ startMs, endMs }) => startMs < endMs && endMs <= recording.durationMs + 32))
  }
})

t.test('recordings in other encodings, rates and channels are recognized', async (t) => {
  const formats = [
    { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 },
    { encoding: 'alaw', sampleRateHz: 8000, channels: 2 },
    { encoding: 'pcm_f32le', sampleRateHz: 48000, channels: 2 },
    { encoding: 'pcm_f32le', sampleRateHz: 44100, channels: 1 },
  ] as const
  for (const format of formats) {
    const { text } = await local.transcribe(await promptAs(format))
    t.ok(errors(prompt, text) <= 1, `${JSON.stringify(format)}: ${text}`)
  }
})

t.test('silence and noise give no words', async (t) => {
  const seconds = 5
  let seed = 1
  // A linear congruential generator makes the same noise on every run.
  const noise = () => (seed = (seed * 1664525 + 1013904223) % 2 ** 32) / 2 ** 31 - 1
  const signals = {
    silence: () => 0,
    'low noise': () => 0.002 * noise(),
    noise: () => 0.05 * noise(),
    hum: (i: number) => 0.05 * Math.sin((2 * Math.PI * 50 * i) / 16000),
  }
  for (const [name, sample] of Object.entries(signals)) {
    const samples = Float32Array.from({ length: 16000 * seconds }, (_, i) => sample(i))
    const body = encodeSamples(samples, 'pcm_s16le')
    const recording = recognised([body], { encoding: 'pcm_s16le', sampleRateHz: 16000, channels: 1 })
    t.same(await local.transcribe(recording), { text: '', segments: [], language: 'en' }, name)
  }
})

t.test('segments have the times of the speech', async (t) => {
  const declared = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
  const silence = new Uint8Array(16000 * 2)
  const speech = readFixture('privacy-prompt').subarray(44)
  const { segments } = await local.transcribe(recognised([silence, speech, silence, speech], declared))
  t.equal(segments.length, 2)
  const promptMs = speech.length / 16
  const expected = [
    [2000, 2000 + promptMs],
    [4000 + promptMs, 4000 + 2 * promptMs],
  ]
  segments.forEach(({ startMs, endMs }, i) => {
    t.ok(Math.abs(startMs - expected[i]![0]!) < 400, `starts at ${startMs}`)
    t.ok(Math.abs(endMs - expected[i]![1]!) < 600, `ends at ${endMs}`)
  })
})

t.test('speech without a pause is cut into segments, and no word is lost', async (t) => {
  const samples = readFixture('privacy-prompt').subarray(44)
  const declared = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
  const times = 16
  const { text, segments } = await local.transcribe(recognised(new Array<Uint8Array>(times).fill(samples), declared))
  const count = wordErrors(`${prompt} `.repeat(times), text)
  t.ok(count.errors / count.words < 0.1, `${count.errors} of ${count.words} words wrong`)
  t.ok(segments.every(({ startMs, endMs }) => endMs - startMs <= 15_000))
})

t.test('a body with a correct header and damaged audio is a bad request', async (t) => {
  const file = readFixture('privacy-prompt', 'flac')
  const broken = Uint8Array.from(file)
  const lastFrame = Buffer.from(file).lastIndexOf(Buffer.of(0xff, 0xf8))
  broken.fill(0x55, 200, lastFrame)
  broken.fill(0x55, lastFrame + 20)
  t.equal(await outcome(local.transcribe(recognised([broken], null))), 'bad_request sent')
  const halfGone = Uint8Array.from(file)
  for (let at = 8000; at < 30_000; at += 500) halfGone.fill(0x55, at, at + 50)
  t.equal(await outcome(local.transcribe(recognised([halfGone], null))), 'bad_request sent', 'never half a text')
  t.equal((await local.transcribe(fixture('tt-weasels'))).segments.length, 1, 'the next one is served')
})

t.test('progress is reported while a long recording is recognized', async (t) => {
  const seen: number[] = []
  const { transcribe } = openLocal(t, { onProgress: ({ doneMs, totalMs }) => seen.push(doneMs / totalMs) })
  await transcribe(longRecording(4))
  t.equal(seen.length, 4)
  t.same(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  t.ok(seen.every((part) => part > 0 && part <= 1))
})
