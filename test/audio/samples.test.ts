import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import { alawToLinear, linearToAlaw, linearToMulaw, mulawToLinear } from '../../audio/g711.ts'
import {
  convertChannels,
  decodeSamples,
  downmixPlanar,
  encodeSamples,
  FrameAligner,
  type SampleEncoding,
} from '../../audio/pcm.ts'
import { Resampler } from '../../audio/resample.ts'
import { createResampler } from '../../runtime/optional.ts'
import { fc } from '../random.ts'
import { speechAt } from '../speech/samples.ts'
import { bytes, cut, sine } from './build.ts'

const convertSpeech = createConvertSpeech(createResampler)

t.test('G.711: the tables have the values of the ITU-T recommendation', (t) => {
  // The values are the decision values and the outputs in G.711's tables 2a and 2b, on a 16-bit scale.
  t.same(
    [0xff, 0x7f, 0x80, 0x00, 0xf0, 0xe0].map((code) => mulawToLinear[code]),
    [0, 0, 32124, -32124, 120, 372],
  )
  t.same(
    [0xd5, 0x55, 0xaa, 0x2a, 0x80].map((code) => alawToLinear[code]),
    [8, -8, 32256, -32256, 5504],
  )
  t.same([0, 32767, -32768, 120].map(linearToMulaw), [0xff, 0x80, 0x00, 0xf0])
  t.same([0, 32767, -32768, -1].map(linearToAlaw), [0xd5, 0xaa, 0x2a, 0x55])
  const codes = Array.from({ length: 256 }, (_, code) => code)
  // 0x7f is minus zero, which is encoded again as plus zero.
  t.same(
    codes.map((code) => linearToMulaw(mulawToLinear[code]!)),
    codes.map((code) => (code === 0x7f ? 0xff : code)),
  )
  t.same(
    codes.map((code) => linearToAlaw(alawToLinear[code]!)),
    codes,
  )
  const samples = Array.from({ length: 65536 }, (_, i) => i - 32768)
  const off = (sample: number, decoded: number) => Math.abs(decoded - sample) > Math.max(16, Math.abs(sample) / 16)
  t.same(
    samples.filter((sample) => off(sample, alawToLinear[linearToAlaw(sample)]!)),
    [],
  )
  // mu-law clips at 32,635 before it rounds.
  t.same(
    samples.filter((sample) => Math.abs(sample) < 32000 && off(sample, mulawToLinear[linearToMulaw(sample)]!)),
    [],
  )
  t.end()
})

t.test('in every encoding, decoded and re-encoded samples stay the same', (t) => {
  const exact = ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'alaw'] as const satisfies SampleEncoding[]
  for (const encoding of exact) {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 12, maxLength: 48 }), (random) => {
        const whole = random.subarray(0, random.length - (random.length % 6))
        return Buffer.compare(encodeSamples(decodeSamples(whole, encoding), encoding), whole) === 0
      }),
      { numRuns: 50 },
    )
    t.pass(encoding)
  }
  const values = Float32Array.of(0, 0.5, -0.25, -1, 0.75)
  for (const encoding of ['pcm_s32le', 'pcm_f32le'] as const) {
    t.same(decodeSamples(encodeSamples(values, encoding), encoding), values, encoding)
  }
  t.same([...encodeSamples(Float32Array.of(2, -2), 'pcm_s16le')], [0xff, 0x7f, 0, 0x80], 'clipped')
  t.same([...decodeSamples(encodeSamples(Float32Array.of(NaN, Infinity), 'pcm_f32le'), 'pcm_f32le')], [0, 0])
  const unaligned = bytes(Uint8Array.of(9), encodeSamples(values, 'pcm_s16le')).subarray(1)
  t.same(decodeSamples(unaligned, 'pcm_s16le'), values, 'at an odd address')
  t.end()
})

t.test('several channels are averaged to mono, and mono is copied to several channels', (t) => {
  t.same([...convertChannels(Float32Array.of(1, 0, 0.5, 0.5), 2, 1)], [0.5, 0.5])
  t.same([...convertChannels(Float32Array.of(0.5, 1), 1, 3)], [0.5, 0.5, 0.5, 1, 1, 1])
  t.same([...convertChannels(Float32Array.of(0, 0.75, 0), 3, 2)], [0.25, 0.25])
  t.same([...downmixPlanar([Float32Array.of(1, 0), Float32Array.of(0, 0.5)])], [0.5, 0.25])
  t.end()
})

t.test('only whole frames are emitted, wherever the chunks are cut', (t) => {
  const body = Uint8Array.from({ length: 240 }, (_, i) => i)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.array(fc.integer({ min: 1, max: 29 }), { minLength: 1, maxLength: 6 }),
      (frame, sizes) => {
        const aligner = new FrameAligner(frame)
        const parts = cut(body, ...sizes).map((chunk) => aligner.push(chunk))
        const whole = body.subarray(0, body.length - (body.length % frame))
        return parts.every((part) => part.length % frame === 0) && Buffer.concat(parts).equals(whole)
      },
    ),
    { numRuns: 50 },
  )
  t.end()
})

/** Measures a tone's level with Goertzel's algorithm. A full-scale sine has level 1. */
function level(samples: Float32Array, hz: number, rateHz: number): number {
  let re = 0
  let im = 0
  samples.forEach((sample, i) => {
    re += sample * Math.cos((2 * Math.PI * hz * i) / rateHz)
    im += sample * Math.sin((2 * Math.PI * hz * i) / rateHz)
  })
  return (2 * Math.hypot(re, im)) / samples.length
}

t.test('resampling keeps length, time and pitch, and causes no aliasing', async (t) => {
  for (const [fromHz, toHz, channels] of [
    [8000, 16000, 1],
    [44100, 16000, 2],
    [16000, 48000, 1],
    [48000, 8000, 1],
    [11025, 24000, 2],
  ] as const) {
    const resampler = await Resampler.create({ channels, fromHz, toHz })
    const tone = sine(1000, fromHz, 2, channels)
    const parts: Float32Array[] = []
    for (let at = 0; at < tone.length; at += 1260) parts.push(resampler.process(tone.subarray(at, at + 1260)))
    parts.push(resampler.flush())
    resampler.close()
    const out = Float32Array.from(parts.flatMap((part) => [...part]))
    t.equal(out.length, toHz * 2 * channels, `${fromHz} to ${toHz}`)
    const mono = convertChannels(out, channels, 1)
    const middle = mono.subarray(toHz / 2, toHz)
    t.ok(Math.abs(level(middle, 1000, toHz) - 0.5) < 0.01)
    const expected = sine(1000, toHz, 2).subarray(toHz / 2, toHz)
    t.ok(
      middle.every((value, i) => Math.abs(value - expected[i]!) < 0.02),
      'in time',
    )
  }
  const down = await Resampler.create({ channels: 1, fromHz: 48000, toHz: 16000 })
  const quiet = down.process(sine(12000, 48000, 1)).subarray(2000, 10000)
  down.close()
  t.ok(
    quiet.every((value) => Math.abs(value) < 0.001),
    '12 kHz is above what 16 kHz can hold',
  )
})

async function* stream(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

async function collect(audio: AsyncIterable<Uint8Array>, frame: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of audio) {
    if (part.length === 0 || part.length % frame !== 0) throw new Error(`a chunk of ${part.length} bytes`)
    parts.push(part)
  }
  return bytes(...parts)
}

const native: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 16000, channels: 1 }

t.test('convertSpeech returns the encoding, the rate and the channels that the client requested', async (t) => {
  const spoken = encodeSamples(sine(440, 16000, 1), 'pcm_s16le')
  const wanted = [
    { to: { encoding: 'pcm_s16le', sampleRateHz: 24000, channels: 1 }, frame: 2 },
    { to: { encoding: 'pcm_f32le', sampleRateHz: 48000, channels: 2 }, frame: 8 },
    { to: { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 }, frame: 1 },
    { to: { encoding: 'alaw', sampleRateHz: 8000, channels: 8 }, frame: 8 },
    { to: { encoding: 'pcm_s16le', sampleRateHz: 192000, channels: 1 }, frame: 2 },
  ] as const
  for (const { to, frame } of wanted) {
    const out = await collect(convertSpeech(stream(cut(spoken, 999, 1, 64)), native, to), frame)
    t.equal(out.length, to.sampleRateHz * frame, JSON.stringify(to))
    const mono = convertChannels(decodeSamples(out, to.encoding), to.channels, 1)
    t.ok(Math.abs(level(mono.subarray(to.sampleRateHz / 4, to.sampleRateHz / 2), 440, to.sampleRateHz) - 0.5) < 0.02)
  }
})

t.test('live resampling has 70 dB of signal to noise, keeps the length and adds no delay', async (t) => {
  for (const fromHz of [16_000, 22_050, 24_000, 44_100, 48_000])
    for (const toHz of [8000, 16_000, 24_000, 48_000].filter((rateHz) => rateHz !== fromHz)) {
      const pair = `${fromHz} to ${toHz} Hz`
      const spoken = encodeSamples(sine(1000, fromHz, 1), 'pcm_s16le')
      const [from, to] = [fromHz, toHz].map((sampleRateHz): OutputFormat => ({ ...native, sampleRateHz }))
      const out = await collect(convertSpeech(stream(cut(spoken, 999, 1, 64)), from!, to!, { live: true }), 2)
      t.equal(out.length, 2 * toHz, `${pair}: as long`)
      const { snrDb, shiftUs } = fitOf(decodeSamples(out, 'pcm_s16le'), 1000, toHz)
      t.ok(snrDb >= 70, `${pair}: ${snrDb.toFixed(0)} dB`)
      t.ok(Math.abs(shiftUs) < 1e6 / toHz, `${pair}: ${shiftUs.toFixed(0)} µs late, less than a sample`)
    }
})

t.test('the short filter for live speech gives nearly the same samples as the long filter', async (t) => {
  const clip = await speechAt('privacy-prompt', 24_000)
  const bytes = new Uint8Array(clip.slice().buffer)
  const from: OutputFormat = { ...native, sampleRateHz: 24_000 }
  const [short, long] = await Promise.all(
    [true, false].map(async (live) =>
      decodeSamples(await collect(convertSpeech(stream(cut(bytes, 960)), from, native, { live }), 2), 'pcm_s16le'),
    ),
  )
  t.equal(short!.length, long!.length)
  const product = (a: Float32Array, b: Float32Array) => a.reduce((sum, sample, i) => sum + sample * b[i]!, 0)
  const correlation = product(short!, long!) / Math.sqrt(product(short!, short!) * product(long!, long!))
  t.ok(correlation > 0.999, `correlation ${correlation}`)
})

/** Fits a sine to the middle samples and treats the rest as noise. */
function fitOf(samples: Float32Array, toneHz: number, rateHz: number) {
  const [first, last] = [Math.floor(rateHz * 0.1), Math.floor(rateHz * 0.9)]
  const angle = (at: number) => (2 * Math.PI * toneHz * at) / rateHz
  let [a, b, noise] = [0, 0, 0]
  for (let at = first; at < last; at++) a += (2 * samples[at]! * Math.sin(angle(at))) / (last - first)
  for (let at = first; at < last; at++) b += (2 * samples[at]! * Math.cos(angle(at))) / (last - first)
  for (let at = first; at < last; at++)
    noise += (samples[at]! - a * Math.sin(angle(at)) - b * Math.cos(angle(at))) ** 2 / (last - first)
  return {
    snrDb: 10 * Math.log10((a * a + b * b) / 2 / noise),
    shiftUs: (-Math.atan2(b, a) / (2 * Math.PI * toneHz)) * 1e6,
  }
}

t.test('audio in the requested format passes through unchanged in whole frames', async (t) => {
  const spoken = encodeSamples(sine(440, 16000, 1), 'pcm_s16le')
  t.same(await collect(convertSpeech(stream(cut(spoken, 333)), native, { ...native }), 2), spoken)
  const opus: OutputFormat = { encoding: 'opus', sampleRateHz: 48000, channels: 1 }
  t.equal((await collect(convertSpeech(stream([Uint8Array.of(1, 2, 3)]), opus, opus), 1)).length, 3)
  t.throws(() => convertSpeech(stream([]), native, opus), /cannot be turned into opus/)
  t.throws(() => convertSpeech(stream([]), opus, native), /Speech in opus cannot/)
})

t.test('a speech stream that breaks off fails instead of ending normally', async (t) => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new Uint8Array(3200))
    throw new Error('gone')
  }
  const to: OutputFormat = { ...native, sampleRateHz: 24000 }
  await t.rejects(collect(convertSpeech(broken(), native, to), 2), { message: 'gone' })
})

t.test('two streams that are resampled at the same time do not mix', async (t) => {
  const to: OutputFormat = { ...native, sampleRateHz: 24000 }
  const pitches = [300, 500, 700, 900, 1100, 1300]
  const outputs = await Promise.all(
    pitches.map((hz) =>
      collect(convertSpeech(stream(cut(encodeSamples(sine(hz, 16000, 1), 'pcm_s16le'), 640)), native, to), 2),
    ),
  )
  outputs.forEach((out, i) => {
    t.ok(Math.abs(level(decodeSamples(out, 'pcm_s16le').subarray(6000, 18000), pitches[i]!, 24000) - 0.5) < 0.02)
  })
})
