import t from 'tap'
import { Digits } from '../../domain/conversation/hearing/digits.ts'
import { SpeechBuffer } from '../../domain/conversation/speaking/speech-buffer.ts'
import { History, historyCharactersMax, historyTurnsMax } from '../../domain/conversation/turns/history.ts'
import { silenceNeededMs } from '../../domain/conversation/words/endpointing.ts'
import { sameWords, UserText } from '../../domain/conversation/words/user-text.ts'
import type { StreamTranscript } from '../../domain/ports/stt.ts'
import { TestClock } from '../clock.ts'
import { converse } from './setup.ts'

const textsOf = (history: History) =>
  history.items().flatMap((item) => (item.type === 'message' && item.role !== 'system' ? [item.text] : []))

t.test('the history keeps the last 200 turns', (t) => {
  const history = new History('Prompt.')
  for (let turn = 0; turn < historyTurnsMax; turn++) history.user(`turn ${turn}`)
  t.equal(textsOf(history).length, 200)
  t.equal(textsOf(history)[0], 'turn 0')
  history.agent([{ type: 'message', role: 'assistant', text: 'turn 200' }])
  t.equal(textsOf(history).length, 200)
  t.equal(textsOf(history)[0], 'turn 1')
  t.match(history.items()[0], { role: 'system', text: 'Prompt.' })
  t.end()
})

t.test('the history keeps at most 100,000 code points, and keeps tool calls with their results', (t) => {
  const history = new History('Prompt.')
  history.agent([
    { type: 'function_call', callId: 'c', name: 'tool', arguments: '{}' },
    { type: 'function_result', callId: 'c', result: '😀'.repeat(historyCharactersMax / 2 - 6) },
  ])
  history.user('x'.repeat(historyCharactersMax / 2))
  t.equal(history.items().length, 4, 'exactly 100,000')
  history.user('y')
  t.same(
    history.items().map((item) => item.type),
    ['message', 'message', 'message'],
    'a result never stays without its call',
  )
  history.user('z'.repeat(historyCharactersMax + 1))
  t.equal(history.items().length, 2, 'the newest turn always stays')
  t.end()
})

t.test('silenceNeededMs depends on whether the words look finished', (t) => {
  const delays = { minDelay: 250, maxDelay: 2500 }
  const text = (text: string, language = 'en') =>
    silenceNeededMs('text', delays, { text, language, isSpeechFinal: false })
  t.equal(text('I would like a table for two.'), 250)
  t.equal(text('yes'), 250, 'a short answer')
  t.equal(text('please.'), 250)
  t.equal(text('Please'), text('I would like a table for two'), 'perhaps the start of "please try again"')
  t.ok(text('I would like a table for two') > 250, 'no punctuation')
  t.ok(text('I would like a table for two') < 1000)
  t.equal(text('I would like a table and'), 2500)
  t.equal(text('um'), 2500)
  t.equal(text('ich hätte gerne einen Tisch und', 'de'), 2500)
  t.ok(text('I would like,') > 1000 && text('I would like,') < 2500)
  const said = { text: 'a table and', language: 'en', isSpeechFinal: true }
  t.equal(silenceNeededMs('vad', delays, said), 250)
  t.equal(silenceNeededMs('stt', delays, said), 0)
  t.equal(silenceNeededMs('stt', delays, { ...said, isSpeechFinal: false }), 2500)
  t.end()
})

const transcript = (over: Partial<StreamTranscript>): StreamTranscript => {
  const blank = { utterance: 0, text: '', isFinal: false, speechFinal: false, startMs: 0, endMs: 0 }
  return { ...blank, ...over }
}

t.test('UserText joins interim and final transcripts to the words of a turn', (t) => {
  const user = new UserText()
  user.add(transcript({ text: 'book a' }))
  user.add(transcript({ text: 'book a table', isFinal: true, endMs: 900 }))
  user.add(transcript({ text: 'for', startMs: 900 }))
  t.equal(user.text, 'book a table for')
  t.notOk(user.isFinal)
  user.add(transcript({ text: 'for two', startMs: 900, isFinal: true, speechFinal: true }))
  t.equal(user.text, 'book a table for two')
  t.ok(user.isSpeechFinal)
  user.add(transcript({ text: 'tonight', utterance: 1, startMs: 2000 }))
  t.equal(user.take(), 'book a table for two tonight')
  t.notOk(user.add(transcript({ text: 'tonight', utterance: 1, startMs: 2000, isFinal: true })), 'it was taken')
  t.equal(user.text, '')
  user.add(transcript({ text: 'yes please', utterance: 2, startMs: 3000, isFinal: true }))
  t.equal(user.text, 'yes please')
  user.take()
  user.add(transcript({ text: 'one two', utterance: 3, startMs: 5000 }))
  user.take()
  user.add(transcript({ text: 'one two three', utterance: 3, startMs: 5000, isFinal: true }))
  t.equal(user.text, 'three', 'only the words that are new')
  t.ok(sameWords('Yes, please!', 'yes please'))
  t.notOk(sameWords('yes', 'yes please'))
  t.end()
})

t.test('UserText drops its text for a new stream only if the audio since the turn began is sent again', (t) => {
  const user = new UserText()
  user.begin(1000)
  user.add(transcript({ text: 'book a', isFinal: true }))
  user.add(transcript({ text: 'table', startMs: 500 }))
  t.notOk(user.reopened(11_000, 10_000), 'the turn began 10 s ago')
  t.equal(user.text, 'book a table')
  t.ok(user.isFinal, 'no final follows for the interim')
  t.ok(user.reopened(10_999, 10_000))
  t.equal(user.text, '')
  t.equal(user.startedMs, 1000, 'it is still the same turn')
  user.take()
  t.equal(user.startedMs, null)
  t.end()
})

t.test('dialled digits become a turn at # or after 2 s', async (t) => {
  const clock = new TestClock()
  const turns: string[] = []
  const digits = new Digits(clock, (turn) => void turns.push(turn))
  digits.push('1')
  await clock.advance(1999)
  digits.push('2#3')
  t.same(turns, ['12#'])
  await clock.advance(1999)
  t.equal(turns.length, 1)
  await clock.advance(1)
  t.same(turns, ['12#', '3'])
  digits.push('5#6##7')
  t.same(turns.splice(2), ['5#6##'], 'keys that come together are one turn')
  digits.push('4'.repeat(1000))
  t.ok(turns.every((turn) => turn.length <= 128))
  digits.close()
  t.equal(clock.timers, 0)
})

t.test('keys that arrive faster than a person presses keys make few turns, and no key is lost', async (t) => {
  const clock = new TestClock()
  const turns: string[] = []
  const digits = new Digits(clock, (turn) => void turns.push(turn))
  for (let key = 0; key < 10_000; key++) digits.push(key % 2 === 0 ? '7' : '#')
  t.equal(turns.length, 20)
  await clock.advance(10_000)
  t.equal(turns.length, 21, 'what waited is one turn')
  t.ok(turns.every((turn) => turn.length <= 128))
  digits.push('8#')
  t.equal(turns.at(-1), '8#')
  digits.close()
  t.equal(clock.timers, 0)
})

t.test('a speech buffer continues reading at the position of the last seek', (t) => {
  const buffer = new SpeechBuffer()
  for (let chunk = 0; chunk < 5; chunk++) buffer.push(Int16Array.from({ length: 7 }, (_value, at) => chunk * 7 + at))
  const frame = new Int16Array(10)
  const read = () => {
    buffer.read(frame)
    return [...frame]
  }
  t.same(read(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  read()
  buffer.seek(13)
  t.same(read(), [13, 14, 15, 16, 17, 18, 19, 20, 21, 22])
  t.same(buffer.takePlayed(3), new Int16Array([0, 1, 2]))
  t.same(buffer.takePlayed(9), new Int16Array([3, 4, 5, 6, 7, 8]))
  t.equal(buffer.takePlayed(9), null)
  buffer.dropBefore(15)
  buffer.seek(0)
  t.equal(buffer.position, 14, 'older samples are gone')
  buffer.seek(30)
  t.same(read(), [30, 31, 32, 33, 34, 0, 0, 0, 0, 0])
  t.equal(buffer.waiting, 0)
  t.end()
})

t.test(
  'playout sends frames of 20 ms, at most 400 ms ahead, and a mark after each 100 ms and at the end',
  async (t) => {
    const { sim, record } = converse({ answerOf: () => 'One two three four five six seven eight nine ten.' })
    sim.say('count please.')
    await sim.until(() => record.turns.length === 2)
    t.ok(sim.aheadMaxMs <= 400 && sim.aheadMaxMs > 300, `${sim.aheadMaxMs} ms ahead`)
    const turn = sim.marks[0]?.split(':')[0]
    const letters = 'One two three four five six seven eight nine ten.'.replaceAll(' ', '').length
    const ends = letters * 60
    const expected = Array.from({ length: Math.floor(ends / 100) }, (_value, at) => `${turn}:${(at + 1) * 100}`)
    t.same(sim.marks, [...new Set([...expected, `${turn}:${ends}`])])
  },
)
