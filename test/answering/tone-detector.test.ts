import t from 'tap'
import { holdClip } from '../../audio/hold-tones.ts'
import { ToneDetector } from '../../audio/tone-detector.ts'
import { beep } from '../../simulator/media/clip.ts'

const sine = (rateHz: number, ms: number, ...hz: number[]) =>
  Int16Array.from({ length: (rateHz * ms) / 1000 }, (_, at) =>
    hz.reduce((sum, each) => sum + (6000 / hz.length) * Math.sin((2 * Math.PI * each * at) / rateHz), 0),
  )

/** Adds noise to the samples. Each call adds the same noise. */
function noisy(samples: Int16Array, level: number): Int16Array {
  let seed = 7
  return samples.map((sample) => {
    seed = (seed * 16_807) % 2_147_483_647
    return sample + level * ((2 * seed) / 2_147_483_647 - 1)
  })
}

/** Returns the detector's events for `pieces` in frames of 20 ms, followed by 100 ms of silence. */
function found(rateHz: number, ...pieces: Int16Array[]): string[] {
  const events: string[] = []
  const detector = new ToneDetector(rateHz, { began: () => events.push('began'), ended: () => events.push('ended') })
  const frame = rateHz / 50
  for (const piece of [...pieces, new Int16Array(rateHz / 10)])
    for (let at = 0; at < piece.length; at += frame) detector.push(piece.subarray(at, at + frame))
  return events
}

const one = ['began', 'ended']

t.test('a tone of 400 to 2000 Hz is detected once, at 8 kHz and at 16 kHz', (t) => {
  for (const rateHz of [8000, 16_000])
    for (const hz of [425, 440, 1000, 1400, 1950]) {
      t.same(found(rateHz, sine(rateHz, 300, hz)), one, `${hz} Hz at ${rateHz}`)
      t.same(found(rateHz, noisy(sine(rateHz, 300, hz), 400)), one, `${hz} Hz in noise at ${rateHz}`)
    }
  t.same(found(8000, sine(8000, 300, 1000), new Int16Array(4000), sine(8000, 300, 1000)), [...one, ...one])
  t.end()
})

t.test('the beep of the simulated voicemail is detected as a tone', (t) => {
  const clip = beep()
  const events: string[] = []
  const detector = new ToneDetector(8000, { began: () => events.push('began'), ended: () => events.push('ended') })
  for (let at = 0; at < clip.frameCount; at++) detector.push(clip.samplesAt(at))
  detector.push(new Int16Array(800))
  t.same(events, one)
  t.end()
})

t.test('voices, keys, ringing and noise are not detected as a beep', (t) => {
  const rateHz = 16_000
  t.same(found(rateHz, sine(rateHz, 120, 1000)), [], 'a short tone')
  t.same(found(rateHz, sine(rateHz, 500, 300)), [], 'a low tone')
  t.same(found(rateHz, sine(rateHz, 500, 2500)), [], 'a high tone')
  t.same(found(rateHz, sine(rateHz, 500, 770, 1336)), [], 'the key 5')
  t.same(found(rateHz, holdClip('ringback', rateHz)), [], 'ringing')
  t.same(found(rateHz, holdClip('music', rateHz).subarray(0, 32_000)), [], 'music')
  t.same(found(rateHz, noisy(new Int16Array(rateHz), 6000)), [], 'noise')
  t.same(
    found(
      rateHz,
      sine(rateHz, 500, 1000).map((sample) => sample / 100),
    ),
    [],
    'a tone that is too quiet',
  )
  const glide = Int16Array.from(
    { length: rateHz },
    (_, at) => 6000 * Math.sin((2 * Math.PI * (400 + at / 16) * at) / rateHz),
  )
  t.same(found(rateHz, glide), [], 'a tone that rises')
  t.end()
})
