/** Tests speech to text and text to speech over HTTP, one request at a time. The output has the error rates. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { decodeSamples, encodeSamples, type SampleEncoding, sampleEncodings } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { recognised } from '../audio/build.ts'
import { serverWith } from '../server.ts'
import { type FixtureName, readFixture, spoken } from '../speech/fixtures.ts'
import { loadPrompts, type Prompt } from '../speech/prompts.ts'
import { type ErrorCount, errorRate, wordErrors, words } from '../speech/words.ts'
import { postJson, send, speech, transcribe } from './requests.ts'

/** The time limit for a test on a busy machine. The tests check words, not speed. */
const busyMs = 240_000
const humanMax = 0.05
const roundTripMax = 0.08
const parley = await serverWith()
const loaded = await loadPrompts()
const prompts = 'prompts' in loaded ? loaded.prompts : []
const skip = 'missing' in loaded ? loaded.missing : false

type Segment = { text: string; start_ms: number; end_ms: number }
type Transcript = { text: string; segments: Segment[]; usage: { duration_ms: number } }
type Declared = { encoding: SampleEncoding; sample_rate_hz: number; channels: number }

/** Transcribes a recording, or raw samples in the format `audio`. */
async function hear(recording: Uint8Array, audio?: Declared): Promise<Transcript> {
  const answer = await transcribe(parley, recording, audio ? { audio } : {})
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json<Transcript>()
}

async function speak(body: { input: string; audio?: object; voice?: string; speed?: number }): Promise<Uint8Array> {
  const headers = {
    authorization: `Bearer ${parley.key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const answer = await fetch(parley.url + speech, { method: 'POST', headers, body: JSON.stringify(body) })
  const bytes = new Uint8Array(await answer.arrayBuffer())
  if (answer.status !== 200) throw new Error(Buffer.from(bytes).toString())
  return bytes
}

const telephone: Declared = { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 }
/** The speech format for a request without a format. */
const usual: Declared = { encoding: 'pcm_s16le', sample_rate_hz: 24_000, channels: 1 }
const samplesOf = (name: FixtureName) => readFixture(name).subarray(44)

t.test('recordings of people are transcribed correctly', { skip, timeout: busyMs }, async (t) => {
  const totalMs = prompts.reduce((sum, { durationMs }) => sum + durationMs, 0)
  t.ok(prompts.length >= 60 && totalMs >= 300_000, `${prompts.length} prompts, ${Math.round(totalMs / 1000)} s`)
  t.ok(prompts.every(({ durationMs }) => durationMs >= 2000))
  const counts: ErrorCount[] = []
  for (const { wav, text } of prompts) counts.push(wordErrors(text, (await hear(wav)).text))
  atMost(t, counts, humanMax)
})

t.test('a file of four minutes is transcribed completely', { skip, timeout: busyMs }, async (t) => {
  const { samples, text } = joined(prompts, 240_000)
  const durationMs = samples.length / 16
  const { text: transcript, segments, usage } = await hear(withHeader(samples, telephone))
  t.equal(usage.duration_ms, Math.round(durationMs))
  atMost(t, [wordErrors(text, transcript)], humanMax)
  const share = words(transcript).length / words(text).length
  t.ok(share > 0.97 && share < 1.03, `${words(transcript).length} of ${words(text).length} words`)
  const places = segments.flatMap(({ start_ms, end_ms }) => [start_ms, end_ms])
  t.same(
    places,
    places.toSorted((a, b) => a - b),
    'in order',
  )
  t.ok(places[0]! < 2000 && places.at(-1)! > durationMs - 3000 && places.at(-1)! <= durationMs, 'from end to end')
})

t.test('speech in the default voice is transcribed correctly', { skip, timeout: busyMs }, async (t) => {
  const counts: ErrorCount[] = []
  for (const { text } of prompts) counts.push(wordErrors(text, (await hear(await speak({ input: text }), usual)).text))
  atMost(t, counts, roundTripMax)
})

t.test('the recordings of the repository are transcribed correctly', async (t) => {
  const counts: ErrorCount[] = []
  for (const name of Object.keys(spoken) as FixtureName[]) {
    const { text, segments } = await hear(readFixture(name))
    counts.push(wordErrors(spoken[name], text))
    t.equal(segments.map((segment) => segment.text).join(' '), text)
  }
  atMost(t, counts, humanMax)
})

t.test('audio is transcribed in each container, encoding and channel layout', async (t) => {
  const text = spoken['privacy-prompt']
  const understood = (name: string, { text: transcript }: Transcript) =>
    t.ok(wordErrors(text, transcript).errors <= 1, `${name}: ${transcript}`)
  for (const extension of ['wav', 'flac', 'opus', 'webm', 'mp3'] as const)
    understood(extension, await hear(readFixture('privacy-prompt', extension)))
  const samples = samplesOf('privacy-prompt')
  const mono = decodeSamples(samples, 'pcm_s16le')
  understood('raw pcm_s16le', await hear(samples, telephone))
  for (const encoding of ['pcm_f32le', 'mulaw', 'alaw'] as const)
    understood(`raw ${encoding}`, await hear(encodeSamples(mono, encoding), { ...telephone, encoding }))
  for (const encoding of Object.keys(sampleEncodings) as SampleEncoding[]) {
    const declared = { ...telephone, encoding }
    understood(`WAV ${encoding}`, await hear(withHeader(encodeSamples(mono, encoding), declared)))
  }
  for (const [channels, speaker] of [
    [2, 1],
    [6, 2],
  ] as const) {
    const wide = new Float32Array(mono.length * channels)
    for (const [i, sample] of mono.entries()) wide[i * channels + speaker] = sample
    const declared = { ...telephone, channels }
    const found = await hear(withHeader(encodeSamples(wide, 'pcm_s16le'), declared))
    understood(`channel ${speaker} of ${channels}`, found)
    t.equal(found.usage.duration_ms, Math.round(mono.length / 8), 'channels are not time')
  }
})

t.test('silence has an empty transcript', async (t) => {
  const quiet = Int16Array.from({ length: 40_000 }, (_, i) => ((i * 7919) % 17) - 8)
  const empty = { text: '', segments: [] }
  t.match(await hear(withHeader(new Uint8Array(96_000), telephone)), empty)
  t.match(await hear(new Uint8Array(16), telephone), empty, 'however short')
  t.match(await hear(new Uint8Array(96_000), { ...telephone, channels: 2 }), empty)
  t.match(await hear(new Uint8Array(24_000).fill(0xff), { ...telephone, encoding: 'mulaw' }), empty)
  t.match(await hear(new Uint8Array(quiet.buffer), telephone), empty, 'and the hiss of a line')
})

t.test('speech is made in every encoding, sample rate and number of channels', async (t) => {
  const input = 'Please leave your message after the tone.'
  // The audio at the voice's own sample rate, for the comparison.
  const reference = await speak({ input, audio: usual })
  const expected = loudness(decodeSamples(reference, 'pcm_s16le'), 24_000)
  const shapes = [
    ...[8000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000].map((rate) => ['pcm_s16le', rate, 1] as const),
    ...[2, 3, 8].map((channels) => ['pcm_s16le', 24_000, channels] as const),
    ...(['pcm_f32le', 'mulaw', 'alaw'] as const).flatMap(
      (encoding) =>
        [
          [encoding, 8000, 1],
          [encoding, 44_100, 2],
        ] as const,
    ),
  ]
  for (const [encoding, sample_rate_hz, channels] of shapes) {
    const name = `${encoding} ${sample_rate_hz} Hz, ${channels}`
    const declared = { encoding, sample_rate_hz, channels }
    const bytes = await speak({ input, audio: declared })
    const seconds = bytes.length / sampleEncodings[encoding].bytes / channels / sample_rate_hz
    t.ok(Math.abs(seconds - reference.length / 48_000) < 0.02, `${name}: ${seconds} s`)
    const tracks = split(decodeSamples(bytes, encoding), channels)
    const [first] = tracks as [Float32Array]
    t.ok(
      tracks.every((track) => Buffer.compare(asBytes(track), asBytes(first)) === 0),
      `${name}: the channels are equal`,
    )
    const likeness = correlation(expected, loudness(first, sample_rate_hz))
    // If the rate is lower than the voice's own rate, the highest sounds are missing, for example in an S.
    t.ok(
      likeness > (sample_rate_hz < usual.sample_rate_hz ? 0.94 : 0.99),
      `${name}: it sounds like the reference, ${likeness.toFixed(3)}`,
    )
    if (channels === 1) t.equal(wordErrors(input, (await hear(bytes, declared)).text).errors, 0, `${name}: understood`)
  }
  t.same(await speak({ input }), await speak({ input, audio: usual }), '16 bits, 24 kHz, mono, where nothing is asked')
})

t.test('speech in a format that does not exist is refused', async (t) => {
  const audio = async (asked: object) => (await postJson(parley, speech, { input: 'Hello.', ...asked })).json().error
  for (const [asked, code, param] of [
    [{ audio: { encoding: 'opus' } }, 'capability_unsupported', undefined],
    [{ audio: { encoding: 'mp3' } }, 'invalid_parameter', '/audio/encoding'],
    [{ audio: { sample_rate_hz: 7999 } }, 'invalid_parameter', '/audio/sample_rate_hz'],
    [{ audio: { sample_rate_hz: 192_001 } }, 'invalid_parameter', '/audio/sample_rate_hz'],
    [{ audio: { channels: 9 } }, 'invalid_parameter', '/audio/channels'],
    [{ speed: 0.2 }, 'invalid_parameter', '/speed'],
    [{ speed: 4.1 }, 'invalid_parameter', '/speed'],
    [{ input: '' }, 'invalid_parameter', '/input'],
    [{ input: 'a'.repeat(20_001) }, 'invalid_parameter', '/input'],
  ] as const) {
    const error = await audio(asked)
    t.equal(error.code, code, JSON.stringify(asked).slice(0, 60))
    if (param) t.equal(error.param, param)
  }
  // No embedded voice emits Opus. The refusal names the rate: the requested rate, or 48 kHz.
  for (const [rate, named] of [
    [{}, '48000 Hz'],
    [{ sample_rate_hz: 24_000 }, '24000 Hz'],
    [{ sample_rate_hz: 48_000 }, '48000 Hz'],
  ] as const)
    t.match((await audio({ audio: { encoding: 'opus', ...rate } })).message, `opus at ${named}`)
})

t.test('speed changes the length of speech, and each voice differs in sound', async (t) => {
  const input = 'Please leave your message after the tone.'
  const own = (await speak({ input })).length
  for (const speed of [0.5, 2]) {
    const ratio = own / (await speak({ input, speed })).length / speed
    t.ok(ratio > 0.85 && ratio < 1.18, `speed ${speed}: ${ratio.toFixed(2)}`)
  }
  type Row = { kind: string; voices: { id: string; language: string }[] }
  const { models } = (await send(parley, '/router/v1/models')).json<{ models: Row[] }>()
  const voices = models
    .filter(({ kind }) => kind === 'tts')
    .flatMap((row) => row.voices.filter(({ language }) => language === 'en').map(({ id }) => id))
  t.ok(voices.length >= 2)
  const sounds = new Set<string>()
  for (const voice of voices) {
    const bytes = await speak({ input, voice })
    sounds.add(Buffer.from(bytes).toString('latin1'))
    const { errors } = wordErrors(input, (await hear(bytes, usual)).text)
    // The oldest voice is hard to understand, so its words are not compared.
    t.ok(errors <= (voice === 'kal16' ? 7 : 1), `${voice}: ${errors} wrong words`)
  }
  t.equal(sounds.size, voices.length, 'each is another voice')
})

t.test('synthesized text is billed by Unicode characters, and not by bytes', async (t) => {
  const answer = await postJson(parley, speech, { input: 'Café ☕ no. 7' })
  t.equal(answer.headers.get('service-usage-characters'), '12')
})

function atMost(t: Test, counts: readonly ErrorCount[], max: number): void {
  const rate = errorRate(counts)
  t.ok(rate <= max, `word error rate ${(rate * 100).toFixed(1)} %, at most ${max * 100} %`)
}

/** Joins prompts with pauses of 0.6 s, like a person's. */
function joined(from: readonly Prompt[], durationMsMin: number): { samples: Uint8Array; text: string } {
  const pause = new Uint8Array(600 * 16)
  const pieces: Uint8Array[] = []
  const texts: string[] = []
  let durationMs = 0
  for (const { wav, text } of from) {
    if (durationMs >= durationMsMin) break
    const { dataOffset, dataBytes } = recognised([wav], null)
    pieces.push(wav.subarray(dataOffset, dataOffset + dataBytes), pause)
    texts.push(text)
    durationMs += dataBytes / 16 + 600
  }
  return { samples: Buffer.concat(pieces), text: texts.join(' ') }
}

function withHeader(samples: Uint8Array, { encoding, sample_rate_hz: sampleRateHz, channels }: Declared): Uint8Array {
  return Buffer.concat([wavHeader({ encoding, sampleRateHz, channels }, samples.length), samples])
}

function split(samples: Float32Array, channels: number): Float32Array[] {
  return Array.from({ length: channels }, (_, channel) => samples.filter((_sample, i) => i % channels === channel))
}

const asBytes = (samples: Float32Array) => new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)

/** Returns the root mean square of each 20 ms. */
function loudness(samples: Float32Array, sampleRateHz: number): number[] {
  const frame = sampleRateHz / 50
  return Array.from({ length: Math.floor(samples.length / frame) }, (_, i) => {
    const part = samples.subarray(Math.round(i * frame), Math.round((i + 1) * frame))
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length)
  })
}

/** Returns Pearson's correlation over the common length. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const length = Math.min(a.length, b.length)
  const centred = (values: readonly number[]) => {
    const part = values.slice(0, length)
    const mean = part.reduce((sum, value) => sum + value, 0) / length
    return part.map((value) => value - mean)
  }
  const [x, y] = [centred(a), centred(b)]
  const product = (p: readonly number[], q: readonly number[]) => p.reduce((sum, value, i) => sum + value * q[i]!, 0)
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y))
}
