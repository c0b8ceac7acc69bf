import t from 'tap'
import { type SpeechChange, SpeechDetector } from '../../domain/conversation/hearing/speech-detector.ts'

/** Each letter is a frame of 32 ms: speech (S), a value between both thresholds (m), or silence (_). */
const values = { S: 0.9, m: 0.4, _: 0.1 } as const

function changes(frames: string, options = { onsetMs: 64, offsetMs: 96 }): (SpeechChange & { frame: number })[] {
  const detector = new SpeechDetector(options)
  return [...frames].flatMap((letter, frame) => {
    const change = detector.frame(values[letter as keyof typeof values])
    return change ? [{ ...change, frame }] : []
  })
}

t.test('once speech has lasted long enough, it counts from its first frame', (t) => {
  t.same(changes('__SS'), [{ type: 'onset', atMs: 64, frame: 3 }])
  t.same(changes('__S'), [])
  t.same(changes('__S_S_S_'), [], 'clicks')
  t.end()
})

t.test('frames between both thresholds neither begin speech nor end it', (t) => {
  t.same(changes('mmmm'), [])
  t.same(changes('SmS'), [{ type: 'onset', atMs: 0, frame: 2 }])
  t.same(changes('SSmmmmmmm'), [{ type: 'onset', atMs: 0, frame: 1 }])
  t.end()
})

t.test('once silence has lasted long enough, speech ends where the silence began', (t) => {
  t.same(changes('SS_____'), [
    { type: 'onset', atMs: 0, frame: 1 },
    { type: 'offset', atMs: 64, frame: 4 },
  ])
  t.same(changes('SS__S__S'), [{ type: 'onset', atMs: 0, frame: 1 }], 'pauses between words')
  t.equal(changes('SS___SS___').length, 4)
  t.end()
})

t.test('lastSpeechMs is the end of the last frame with speech', (t) => {
  const detector = new SpeechDetector({ onsetMs: 32, offsetMs: 96 })
  for (const probability of [0.1, 0.9, 0.4, 0.1, 0.1]) detector.frame(probability)
  t.equal(detector.lastSpeechMs, 96)
  t.equal(detector.nowMs, 160)
  t.ok(detector.speaking)
  detector.frame(0)
  t.notOk(detector.speaking)
  t.end()
})
