/** Markdown marks in a model's text are not spoken, but the shown text keeps them. */
import t from 'tap'
import { normalizerOf } from '../../domain/conversation/speaking/normalizer.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'

const pipeline = (dictionary: Record<string, string> = {}) =>
  ({ speechNormalization: { textReplacements: {}, pronunciationDictionary: dictionary } }) as unknown as Pipeline
const normalize = normalizerOf(pipeline())
const spoken = (text: string) => normalize(text).spoken.text.trim()

const rows: [text: string, said: string][] = [
  ['**Monday** works', 'Monday works'],
  ['*Monday* works, ***really***.', 'Monday works, really.'],
  ['__Monday__ or _Tuesday_?', 'Monday or Tuesday?'],
  ['**First. ', 'First.'],
  ['Second.**', 'Second.'],
  ['un**frigging**believable', 'unfriggingbelievable'],
  ['It costs **5** euros, *10* in total.', 'It costs 5 euros, 10 in total.'],
  ['Call `support` or ``help``.', 'Call support or help.'],
  ['See [our page](https://example.com/a_(b)?c=d "Title").', 'See our page.'],
  ['![A map](map.png) is [here][1].', 'A map is here.'],
  [
    'Write to <info@example.com> or <https://example.com/a_b>.',
    'Write to info@example.com or https://example.com/a_b.',
  ],
  ['## Opening hours\n', 'Opening hours'],
  ['- Milk\n* Bread\n+ Butter\n', 'Milk\nBread\nButter'],
  ['1. **Milk**\n', '1. Milk'],
  ['- [x] Milk', 'Milk'],
  ['> To be or not', 'To be or not'],
  ['~~Monday~~ Tuesday[^1]', 'Monday Tuesday'],
  ['| Day | Time |\n|---|:---:|\n| Monday | 9 |\n', 'Day, Time\n\nMonday, 9'],
  ['One<br>two <b>three</b>', 'One two three'],
  ['<p class="a b" id=c>One</p> <say-as interpret-as=\'date\'>two</say-as>', 'One two'],
  ['It is at[our page](https://example.com).', 'It is atour page.'],
  ['Drinks:\n- 2 teas\n- 1 coffee\n', 'Drinks:\n2 teas\n1 coffee'],
  ['A price\\* of 5', 'A price* of 5'],
  ['Terms apply*.', 'Terms apply.'],
  ['### **Opening hours** ###\n', 'Opening hours'],
  ['# Press #5 ', 'Press #5'],
  ['Tom&nbsp;&amp; Ann, 3 &lt; 5 and &quot;it&#39;s&quot;', 'Tom & Ann, 3 < 5 and "it\'s"'],
  ['<!-- a note -->Monday', 'Monday'],
  ['***Monday** works*', 'Monday works'],
  ['“*Monday*” (**works**)', '“Monday” (works)'],
]

const asTheyAre = [
  '> 90 percent',
  '- 5 degrees tonight.',
  'The value of arr[0][1] and of m[i][j].',
  'The element [0][1]',
  'It calls handlers[0](event).',
  'if x <y and z> w',
  'a <b, and c> d',
  'Dial *67 or press 9*.',
  'Press * to repeat, or # to end.',
  'Room #5, 2 * 3 and 2**3.',
  'The file my_long_name.txt of john_doe@example.com',
  'https://example.com/_next/a_b*c?x=_y',
  'It is -5 degrees, from 9 - 5 or a-b.',
  '+ 49 30 123',
  '3 < 5 and 7 > 6',
  'He said "no" [laughs].',
  'Terms & conditions of AT&T',
  'Press 5 #',
]

t.test('Markdown syntax is not spoken, and all words are', (t) => {
  for (const [text, said] of rows) {
    t.equal(spoken(text), said, text)
    t.equal(normalize(text).text, text, 'the shown text keeps them')
  }
  for (const text of asTheyAre) t.equal(spoken(text), text)
  for (const nothing of ['---\n', '***', '```python\n', '```']) t.equal(spoken(nothing), '', nothing)
  t.end()
})

t.test('emoji are not spoken, and symbols with a meaning are', (t) => {
  const said: [text: string, said: string][] = [
    ['Hello 👋 there 😀!', 'Hello there!'],
    ['Great🎉news', 'Great news'],
    ['A family 👨‍👩‍👧 from 🇩🇪 🇫🇷.', 'A family from.'],
    ['Press 1️⃣ or *️⃣', 'Press 1 or *'],
    ['Thumbs up 👍🏽 ❤️', 'Thumbs up'],
  ]
  for (const [text, words] of said) {
    t.equal(spoken(text), words, text)
    t.equal(normalize(text).text, text, 'the shown text keeps them')
  }
  for (const text of ['Milk ✅, bread ❌', 'Turn → left', 'Parley™ © 2025', '5 € for ½']) t.equal(spoken(text), text)
  const { spoken: plain } = normalize('Hi 👋 Anna, bye')
  t.equal(plain.sourcePlace(plain.text.length), 'Hi 👋 Anna, bye'.length)
  t.equal(plain.sourcePlace('Hi Anna'.length), 'Hi 👋 Anna'.length)
  t.end()
})

t.test("a voice's markup in the pronunciation dictionary, such as a break tag, reaches the voice unchanged", (t) => {
  const markup = '<break time="500ms"/> Nguyen'
  t.equal(normalizerOf(pipeline({ Nguyen: markup }))('Ask Nguyen.').spoken.text, `Ask ${markup}.`)
  t.end()
})

t.test('- and # are Markdown only at the beginning of a line, and not of a later sentence in the line', (t) => {
  const sentence = (text: string) => normalize(text, 'sentence').spoken.text
  for (const text of ['- 5 degrees.', '> 90 percent.', '# 5', '– 5 degrees.', '> x, so go on.', '+ 5 euros.', '- to +'])
    t.equal(sentence(text), text)
  t.equal(sentence('```python\n'), '\n')
  t.equal(sentence('* Milk; '), 'Milk; ')
  t.equal(sentence('| 9 |\n- Tea'), ', 9\nTea')
  const line = (text: string) => normalize(text, 'line').spoken.text
  for (const text of ['> 90 percent.', '+ 49 30']) t.equal(line(text), text)
  t.equal(line('- 2 teas'), '2 teas')
  t.equal(line('# 5 rules'), '5 rules')
  t.equal(line('> To be'), 'To be')
  t.end()
})

t.test('each position in the spoken text is mapped to its position in the shown text', (t) => {
  const text = 'On **Monday** see [the *page*](https://example.com), Dr. Wu.'
  const { spoken } = normalizerOf(pipeline({ 'Dr.': 'Doctor' }))(text)
  t.equal(spoken.text, 'On Monday see the page, Doctor Wu.')
  for (const word of ['On', 'Monday', 'see', 'the', 'page', 'Wu']) {
    const played = text.slice(0, spoken.sourcePlace(spoken.text.indexOf(word) + word.length))
    t.ok(
      played
        .replace(/[*\])]|\([^)]*\)?/g, '')
        .trimEnd()
        .endsWith(word),
      played,
    )
  }
  t.equal(spoken.sourcePlace(spoken.text.length), text.length)
  t.end()
})

t.test('hostile Markdown is normalized within its time limit', (t) => {
  for (const unit of ['# ', ' #', '<!--', '&', '*', '_a', '[', '](', '|-', '> ', '<a ', '`', '**a', '- '])
    for (const text of [unit.repeat(2000), `a${unit.repeat(2000)}b`]) {
      const begun = process.cpuUsage()
      spoken(text)
      t.ok(process.cpuUsage(begun).user < 500_000, unit)
    }
  t.end()
})
