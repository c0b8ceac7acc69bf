import t from 'tap'
import { FrameResampler } from '../../audio/frame-resampler.ts'
import { l16, pcma, pcmu } from '../../audio/line-codec.ts'
import { ToneDetector } from '../../audio/tone-detector.ts'
import { beep, Clip } from '../../simulator/media/clip.ts'
import { random, seed } from '../random.ts'
import { speak, WordReader, wordsIn } from './tones.ts'

const text = 'Hi, you have reached Sam. Sam is not here here. One two three four five six seven eight nine ten.'
const read = (samples: Int16Array, rateHz: number) =>
  wordsIn(samples, rateHz)
    .map(({ word }) => word)
    .join(' ')

t.test('words encoded as tones are recognized after every phone codec, wherever they begin', (t) => {
  const { samples } = speak(text, 16_000)
  const clip = new Clip({ samples, sampleRateHz: 16_000 })
  const lines = [
    { encoding: 'PCMU', sampleRateHz: 8000, codec: pcmu },
    { encoding: 'PCMA', sampleRateHz: 8000, codec: pcma },
    { encoding: 'L16', sampleRateHz: 16_000, codec: l16 },
  ] as const
  for (const { codec, ...format } of lines) {
    const up = new FrameResampler(format.sampleRateHz, 16_000)
    const received = clip.frames(format).flatMap((frame) => {
      const bytes = Buffer.from(frame, 'base64')
      const samples = new Int16Array(format.sampleRateHz / 50)
      codec.decode(bytes, bytes.length, samples)
      return [...up.convert(samples)]
    })
    for (const skipped of [0, 37, 160, 251])
      t.equal(read(Int16Array.from(received.slice(skipped)), 16_000), text, `${format.encoding} from ${skipped}`)
  }
  t.end()
})

t.test('a word encoded as tones is recognized while it is played, with its start and end times', (t) => {
  const { samples, words } = speak('one twenty', 8000)
  t.same(words, [
    { place: 3, endMs: 180 },
    { place: 10, endMs: 580 },
  ])
  t.match(wordsIn(samples, 8000), [
    { word: 'one', startMs: 0, endMs: 180 },
    { word: 'twenty', startMs: 220, endMs: 580 },
  ])
  const reader = new WordReader(8000)
  t.same(reader.push(samples.subarray(0, 8 * 300)), [{ word: 'one', startMs: 0, endMs: 180 }])
  t.equal(reader.word?.word, 'twenty')
  t.end()
})

t.test('noise, a beep and a ringing tone are not recognized as words, nor a word as a beep', (t) => {
  const next = random(seed)
  const noise = Int16Array.from({ length: 16_000 }, () => Math.floor(next() * 20_000) - 10_000)
  t.equal(read(noise, 16_000), '')
  t.equal(read(joined(beep()), 8000), '')
  const ringing = Int16Array.from({ length: 8000 }, (_, at) => 4000 * (wave(440, at) + wave(480, at)))
  t.equal(read(ringing, 8000), '')
  let began = 0
  const detector = new ToneDetector(16_000, { began: () => void began++, ended() {} })
  detector.push(speak(text, 16_000).samples)
  t.equal(began, 0)
  t.end()
})

function wave(hz: number, at: number): number {
  return Math.sin((2 * Math.PI * hz * at) / 8000)
}

function joined(clip: Clip): Int16Array {
  return Int16Array.from(Array.from({ length: clip.frameCount }, (_, at) => [...clip.samplesAt(at)]).flat())
}
