import t from 'tap'
import { AgreedWords } from '../../domain/speech/agreed-words.ts'
import { processorMs } from '../processor-time.ts'

/** Returns the caption deltas for one segment's interims and final, and the whole text. */
function captions(interims: readonly string[], final: string): { deltas: string[]; text: string } {
  const words = new AgreedWords()
  const deltas = [...interims.map((text) => words.interim(text)), words.final(final)]
  return { deltas, text: words.text }
}

t.test('a caption word is sent when two interims agree on it and more words follow it', (t) => {
  t.same(captions(['one', 'one two', 'one two three', 'one two three four'], 'one two three four five.'), {
    deltas: ['', 'one', ' two', ' three', ' four five.'],
    text: 'one two three four five.',
  })
  t.same(captions(['one tw', 'one two three'], 'one two three'), {
    deltas: ['', 'one', ' two three'],
    text: 'one two three',
  })
  t.same(
    captions(['one two', 'one two'], 'one two'),
    { deltas: ['', 'one', ' two'], text: 'one two' },
    'the last may be cut',
  )
  t.same(captions([], 'one two'), { deltas: ['one two'], text: 'one two' })
  t.same(captions(['one'], ''), { deltas: ['', ''], text: '' })
  t.end()
})

t.test('caption words that changed are held back until two interims agree again', (t) => {
  const { deltas, text } = captions(
    ['weasels half', 'Weasels have eaten', 'Weasels have eaten our phone'],
    'Weasels have eaten our phone.',
  )
  t.same(deltas, ['', '', 'Weasels have eaten', ' our phone.'])
  t.equal(text, 'Weasels have eaten our phone.')
  t.end()
})

t.test('captions continue after the words already sent, even if a transcript contradicts them', (t) => {
  const sent = ['two men walk in', 'two men walk in here']
  for (const [final, text] of [
    ['To men walk in here now.', 'two men walk in here now.'],
    ['Two men, walk in here now.', 'two men walk in here now.'],
    ['Men walk in here now.', 'two men walk in here now.'],
    ['Then two men walk in here now.', 'two men walk in here now.'],
    ['two', 'two men walk in'],
    ['', 'two men walk in'],
  ] as const) {
    const captioned = captions(sent, final)
    t.equal(captioned.text, text, final)
    t.equal(captioned.deltas.join(''), text)
  }
  const later = captions(
    [...sent, 'To men walk in here and', 'To men walk in here and say'],
    'To men walk in here and say it.',
  )
  t.same(later.deltas, ['', 'two men walk in', ' here', ' and', ' say it.'], 'interims go on as well')
  t.end()
})

t.test('caption segments are joined with a space', (t) => {
  const words = new AgreedWords()
  t.same(
    [words.final('One.'), words.interim('two'), words.interim('two three'), words.final('two three')],
    ['One.', '', ' two', ' three'],
  )
  t.equal(words.text, 'One. two three')
  t.equal(words.final(''), '')
  t.end()
})

t.test('if the script has no spaces, each character counts as a word', (t) => {
  const { deltas, text } = captions(['今天天', '今天天气很', '今天天气很好'], '今天天气很好。')
  t.same(deltas, ['', '今天天', '气很', '好。'])
  t.equal(text, '今天天气很好。')
  t.end()
})

t.test('captions of a long segment are computed quickly', (t) => {
  const long = Array.from({ length: 5000 }, (_, i) => `w${i}`)
  const words = new AgreedWords()
  words.interim(long.join(' '))
  words.interim(long.join(' '))
  const spentMs = processorMs(() => {
    words.interim(['other', ...long].join(' '))
    words.final(['other', ...long, 'end'].join(' '))
  })
  t.ok(spentMs < 500)
  t.match(words.text, /^w0 w1 .* end$/)
  t.end()
})
