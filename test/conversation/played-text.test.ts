/**
 * An interrupted turn's text ends with the last played word. The audio is joined from recordings, so the end of each
 * word is known.
 */
import t from 'tap'
import { PlayedText } from '../../domain/conversation/speaking/played-text.ts'
import { processorMs } from '../processor-time.ts'
import { fc } from '../random.ts'
import { type FixtureName, spoken } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'

const names = Object.keys(spoken) as FixtureName[]
const rateHz = 16_000
const clips = new Map<FixtureName, Int16Array>()
for (const name of names) clips.set(name, await speechAt(name, rateHz))
const msOf = (samples: Int16Array) => (samples.length * 1000) / rateHz
const wordsIn = (text: string) => text.split(' ').filter((word) => word !== '').length

t.test('without word timings the played text of a sentence advances with its audio', (t) => {
  const late: number[] = []
  for (const first of names)
    for (const second of names.filter((name) => name !== first)) {
      const turn = new PlayedText(rateHz)
      turn.sentence(`${spoken[first]} ${spoken[second]}`)
      for (const name of [first, second]) turn.audio(clips.get(name)!)
      turn.complete()
      late.push(wordsIn(spoken[first]) - wordsIn(turn.at(msOf(clips.get(first)!))))
    }
  t.comment(`words that were played and are missing, in the middle of two sentences: ${late.join(' ')}`)
  // A voice keeps its pace within a sentence, but these clips do not: one has 49 ms for each letter and another 71 ms.
  // So the estimate may be a few words short.
  t.ok(late.every((words) => words >= 0 && words <= 3))
  t.ok(late.filter((words) => words <= 1).length >= 0.7 * late.length)
  t.end()
})

t.test('a sentence counts as played once its audio ends, and the next one only once its audio begins', (t) => {
  const turn = new PlayedText(rateHz)
  for (const name of names) {
    turn.sentence(`${spoken[name]} `)
    turn.audio(clips.get(name)!)
  }
  turn.complete()
  const [first, second] = names as [FixtureName, FixtureName]
  const borderMs = msOf(clips.get(first)!)
  t.equal(turn.at(borderMs), spoken[first])
  t.equal(turn.at(borderMs + 50), spoken[first])
  t.equal(turn.at(borderMs + 1000).indexOf(spoken[first]), 0)
  t.ok(turn.at(borderMs + 1000).length < spoken[first].length + spoken[second].length)
  t.equal(turn.at(turn.durationMs), names.map((name) => spoken[name]).join(' '))
  t.equal(turn.at(0), '')
  t.end()
})

t.test('word timings make the played text exact to the word', (t) => {
  const turn = new PlayedText(rateHz)
  turn.sentence('We have three rooms, sir.')
  turn.audio(new Int16Array(rateHz * 2))
  const endsMs = [200, 500, 900, 1400, 1800]
  const ends = [2, 7, 13, 19, 24].map((place, i) => ({ place, endMs: endsMs[i]! }))
  turn.words({ ends, fromMs: 0, placeOf: (place) => place })
  turn.complete()
  t.same(
    [199, 200, 899, 900, 1399, 1400, 1799, 1800].map((ms) => turn.at(ms)),
    [
      '',
      'We',
      'We have',
      'We have three',
      'We have three',
      'We have three rooms,',
      'We have three rooms,',
      'We have three rooms, sir.',
    ],
  )
  t.end()
})

t.test('while the audio of a sentence is incomplete, words after the played part do not count as played', (t) => {
  const turn = new PlayedText(rateHz)
  turn.sentence(`${spoken['tt-weasels']} ${spoken['privacy-prompt']}`)
  turn.audio(clips.get('tt-weasels')!)
  const playedMs = msOf(clips.get('tt-weasels')!)
  const words = wordsIn(turn.at(playedMs))
  t.ok(words <= wordsIn(spoken['tt-weasels']))
  t.ok(words >= 2)
  t.end()
})

t.test('played text in scripts without spaces is cut between characters', (t) => {
  const turn = new PlayedText(rateHz)
  turn.sentence('你好，世界。')
  turn.audio(Int16Array.from({ length: rateHz }, (_, i) => 8000 * Math.sin(i / 5)))
  turn.complete()
  t.equal(turn.at(500), '')
  t.equal(turn.at(850), '你')
  t.equal(turn.at(995), '你好，')
  t.equal(turn.at(1000), '你好，世界。')
  t.end()
})

t.test('played text is a prefix of the whole text, grows with time, and ends between words', (t) => {
  const texts = fc.array(fc.stringMatching(/^[a-zA-Z0-9,.!? 好-]{1,60}$/), { minLength: 1, maxLength: 4 })
  const lengths = fc.array(fc.nat(5000), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(texts, lengths, fc.boolean(), (sentences, samples, isComplete) => {
      const turn = new PlayedText(8000)
      sentences.forEach((text, i) => {
        turn.sentence(text)
        turn.audio(Int16Array.from({ length: samples[i]! }, (_, at) => (at % 7) * 1000))
      })
      if (isComplete) turn.complete()
      const whole = sentences.join('')
      let before = ''
      for (let ms = 0; ms <= turn.durationMs + 100; ms += 37) {
        const text = turn.at(ms)
        if (!whole.startsWith(text) || !text.startsWith(before)) return false
        if (/[a-zA-Z]$/.test(text) && /^[a-zA-Z]/.test(whole.slice(text.length)) && !isBorder(sentences, text.length))
          return false
        before = text
      }
      return !isComplete || turn.at(turn.durationMs + 1) === whole.trimEnd()
    }),
  )
  t.end()
})

/** Returns true if two sentences without a space between them meet here. */
function isBorder(sentences: readonly string[], at: number): boolean {
  let end = 0
  return sentences.some((text) => (end += text.length) === at)
}

t.test('the played text of a long turn takes little time to compute', (t) => {
  const turn = new PlayedText(48_000)
  const spentMs = processorMs(() => {
    turn.sentence('word '.repeat(2000))
    for (let i = 0; i < 3000; i++) turn.audio(new Int16Array(960).fill(5000))
    turn.complete()
    for (let ms = 0; ms < 60_000; ms += 6000) turn.at(ms)
  })
  t.ok(spentMs < 2000)
  t.end()
})
