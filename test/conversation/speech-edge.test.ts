/** The beginning and the end of speech are found to a few milliseconds. */
import t from 'tap'
import { SpeechEdge } from '../../domain/conversation/hearing/speech-edge.ts'
import { LeadingSilence } from '../../domain/conversation/speaking/leading-silence.ts'

const rateHz = 16_000
const tone = (ms: number, peak: number) =>
  Int16Array.from({ length: (ms * rateHz) / 1000 }, (_, at) => Math.round(peak * Math.cos(at)))
const join = (...parts: Int16Array[]) => Int16Array.from(parts.flatMap((part) => [...part]))

function endOf(samples: Int16Array, foundMs: number): number {
  const edge = new SpeechEdge()
  for (let at = 0; at < samples.length; at += 321) edge.push(samples.subarray(at, at + 321))
  return edge.endNear(foundMs)
}

t.test('the end of speech is where the sound level drops', (t) => {
  const speech = join(tone(1005, 8000), tone(500, 20))
  for (const foundMs of [928, 960, 992, 1024, 1056, 1088]) t.equal(endOf(speech, foundMs), 1005, `found at ${foundMs}`)
  t.equal(endOf(join(tone(1000, 8000), tone(40, 20), tone(20, 900), tone(500, 20)), 992), 1060, 'a last "d"')
  t.end()
})

t.test('if the sound level does not show the end of speech, the end from voice activity detection is used', (t) => {
  t.equal(endOf(join(tone(1000, 8000), tone(1000, 900)), 1024), 1024, 'noise')
  t.equal(endOf(join(tone(800, 8000), tone(1000, 20)), 1024), 1024, 'silence')
  t.equal(endOf(tone(1050, 8000), 1024), 1024, 'what follows has not come')
  t.equal(endOf(join(tone(1005, 8000), tone(15_000, 20)), 1024), 1005, 'an answer that comes 15 s late')
  t.equal(endOf(join(tone(1005, 8000), tone(20_000, 20)), 1024), 1024, 'too long ago')
  t.end()
})

t.test("the silence before a voice's speech is removed, except for 5 ms", (t) => {
  const voice = join(tone(20, 110), tone(130, 8), tone(300, 8000), tone(100, 0), tone(200, 8000))
  for (const length of [1, 80, 333, 5000, 20_000]) {
    const silence = new LeadingSilence(rateHz)
    const left: Int16Array[] = []
    for (let at = 0; at < voice.length; at += length) left.push(silence.after(voice.slice(at, at + length)))
    t.same(join(...left), voice.subarray(145 * 16), `in pieces of ${length}`)
  }
  t.same(new LeadingSilence(rateHz).after(tone(50, 8000)), tone(50, 8000))
  t.end()
})

t.test('leading silence is removed for a second at most, so a silent voice is played too', (t) => {
  const silence = new LeadingSilence(rateHz)
  t.equal(silence.after(new Int16Array(16_000)).length, 0)
  t.equal(silence.after(new Int16Array(160)).length, 80)
  t.equal(silence.after(new Int16Array(160)).length, 160)
  t.end()
})
