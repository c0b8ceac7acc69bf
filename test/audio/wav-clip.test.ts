/** An organization's WAV file is converted to a clip for a call. */
import t from 'tap'
import { encodeSamples, type SampleEncoding } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { wavClip } from '../../audio/wav-clip.ts'
import { likenessOf } from './likeness.ts'

const hz = 440
const toneAt = (rateHz: number, s: number) =>
  Float32Array.from({ length: rateHz * s }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rateHz))

type Shape = { encoding: SampleEncoding; channels: number }
const plain: Shape = { encoding: 'pcm_s16le', channels: 1 }

function wavOf(sampleRateHz: number, s: number, { encoding, channels }: Shape = plain) {
  const mono = toneAt(sampleRateHz, s)
  const samples = Float32Array.from({ length: mono.length * channels }, (_, i) => mono[Math.floor(i / channels)]!)
  const body = encodeSamples(samples, encoding)
  return Buffer.concat([wavHeader({ encoding, sampleRateHz, channels }, body.length), body])
}

function clipOf(body: Uint8Array, rateHz = 16_000) {
  const steps = wavClip(body, rateHz)
  for (let count = 0; ; count++) {
    const step = steps.next()
    if (step.done) return { clip: step.value, count }
  }
}

t.test('a WAV of each rate and encoding sounds unchanged at the rate of the call', (t) => {
  const expected = Int16Array.from(toneAt(16_000, 0.5), (value) => value * 32_767)
  for (const rateHz of [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000])
    for (const [encoding, channels] of [
      ['pcm_s16le', 1],
      ['pcm_s24le', 2],
      ['mulaw', 1],
      ['pcm_f32le', 6],
    ] as const) {
      const { clip } = clipOf(wavOf(rateHz, 2, { encoding, channels }))
      const title = `${rateHz} Hz, ${encoding}, ${channels} channels`
      t.ok(Math.abs(clip.length - 32_000) <= 32, `${title}: ${clip.length} samples`)
      t.ok(likenessOf(expected, clip.subarray(800)) > 0.99, title)
    }
  t.end()
})

t.test('a long WAV is converted in steps, and cut after five minutes', (t) => {
  const { clip, count } = clipOf(wavOf(8000, 310, { encoding: 'mulaw', channels: 1 }), 8000)
  t.equal(clip.length, 300 * 8000)
  t.ok(count >= 300, `${count} steps`)
  t.end()
})

t.test('a body that is not a usable WAV is refused with its reason', (t) => {
  const cases: [Uint8Array, string][] = [
    [Buffer.alloc(0), 'empty'],
    [wavOf(8000, 0), 'empty'],
    [Buffer.from('<html>No such file</html>'.repeat(10)), 'unrecognised'],
    [wavOf(16_000, 1).subarray(0, 1000), 'truncated'],
    [wavOf(96_000, 1), 'unsupported'],
    [wavOf(15_999, 1), 'unsupported'],
  ]
  for (const [body, reason] of cases)
    try {
      clipOf(body)
      t.fail(reason)
    } catch (err) {
      t.match(err, { name: 'AudioError', reason })
    }
  t.end()
})
