/** The comparison reports a difference exactly if it would surprise a client written after an example. */
import t from 'tap'
import { differences } from './compare.ts'
import { cuesOf, runsOf } from './streams.ts'

const example = {
  id: 'resp_req_V1StGXR8Z5jdHi6BmyTqK',
  object: 'response',
  text: 'We open at ten.',
  usage: { tokens: 14, cost: null },
  words: [{ word: 'We', start: 0.1 }, { word: 'open' }],
  stored: false,
  at: '2026-11-21T16:00:00.000Z',
}

t.test('figures, texts, times, ids and the length of a list may differ from an example', (t) => {
  const answer = {
    ...example,
    id: 'resp_req_n7II46o77KbbkjqHTX4Ezn',
    text: '',
    usage: { tokens: 0, cost: null },
    words: [...example.words, { word: 'late', start: 9 }],
    at: '2027-01-01T00:00:00.123Z',
  }
  t.same(differences(example, answer), [])
  t.end()
})

t.test('any other difference from an example is found', (t) => {
  const { stored, ...without } = example
  t.same(stored, false)
  const surprises: readonly [object, string | RegExp][] = [
    [without, '/stored: only in the example'],
    [{ ...example, more: 1 }, '/more: only in the answer'],
    [{ ...example, id: 'req_n7II46o77KbbkjqHTX4Ezn' }, /^\/id/],
    [{ ...example, id: 'resp_1' }, /^\/id/],
    [{ ...example, object: 'completion' }, /^\/object/],
    [{ ...example, stored: true }, /^\/stored/],
    [{ ...example, text: null }, '/text: string in the example, null in the answer'],
    [{ ...example, usage: { tokens: '14', cost: null } }, '/usage/tokens: number in the example, string in the answer'],
    [{ ...example, usage: { tokens: 14, cost: 3 } }, '/usage/cost: null in the example, number in the answer'],
    [{ ...example, usage: [] }, '/usage: object in the example, list in the answer'],
    [{ ...example, words: [] }, '/words: one of the lists is empty'],
    [{ ...example, words: example.words.slice(0, 1) }, '/words/1/start: only in the answer'],
    [{ ...example, words: [...example.words, {}] }, '/words/2/word: only in the example'],
    [{ ...example, at: 'yesterday' }, /^\/at/],
  ]
  for (const [answer, line] of surprises) t.match(differences(example, answer), [line], String(line))
  t.end()
})

t.test('neighbouring events of one kind are compared as a run', (t) => {
  const named = 'event: delta\nid: 0\ndata: {"a":1}\n\n: keep-alive\n\nevent: delta\nid: 1\ndata: {"a":2}\n\n'
  const unnamed = 'data: {"object":"chunk"}\n\ndata: {"type":"done"}\n\ndata: {"error":{}}\n\ndata: [DONE]\n\n'
  t.same(
    runsOf(named + unnamed).map(({ kind, events }) => [kind, events.length]),
    [
      ['delta', 2],
      ['chunk', 1],
      ['done', 1],
      ['error', 1],
      ['[DONE]', 1],
    ],
  )
  t.end()
})

t.test('subtitles may differ from an example in text and times, but not in form', (t) => {
  const srt = '1\n00:00:00,120 --> 00:00:02,610\nPlease hold.\n\n'
  t.same(cuesOf(srt), cuesOf('12\n01:00:09,000 --> 01:00:10,000\nGoodbye.\n\n'))
  t.notSame(cuesOf(srt), cuesOf(srt.replaceAll(',', '.')))
  t.notSame(cuesOf(srt), cuesOf(`WEBVTT\n\n${srt}`))
  t.end()
})
