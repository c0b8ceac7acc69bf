/**
 * A model's tokens are joined to sentences. If a text were cut at a full stop inside a web address, a version or
 * initials, the voice would speak the parts as sentences.
 */
import t from 'tap'
import { SentenceBuffer } from '../../domain/speech/sentence-buffer.ts'

function sentences(buffer: SentenceBuffer, pieces: readonly string[]): string[] {
  const whole = pieces.flatMap((piece) => buffer.push(piece))
  return [...whole, buffer.flush()].filter((sentence) => sentence !== '')
}

/** Each text is one sentence. `|` separates its tokens. */
const texts = [
  'example|.|com',
  'Visit| example|.|com| today|.',
  'Go to| www|.|example|.|co|.|uk|/|help|?|id|=|7|.',
  'https|:|//|example|.|com|:|8080|/a|.|html',
  'Write to| j|.|doe|@|mail|.|example|.|org|!',
  'Mail anna|.|b@x|.io',
  'Version| |2|.|1|.|3| is out',
  'It is v|1|.|0|-rc|.|2|',
  'Call| J|.| R|.| R|.| Tolkien',
  'Ask J|.|-|P|.| Sartre',
  'It costs| 3|.|14| euros|.',
  'At| 10|:|30| a|.|m|.',
  'Dr|.| Smith and Prof|.| Jones',
  'Read the file| notes|.|txt',
  'Node|.|js is fast|.|',
  'Really|?|!',
  'Ph|.|D|. student',
  'Bring it|,| e|.|g|.| tomorrow|.',
  'Das kostet| z|.| B|.| nichts|.',
  'Llame| p|.| ej|.| mañana|.',
  'Bonjour| M|.| Dupont|,| p|.| ex|.| demain|.',
  'Il Sig|.| Rossi e la Dott|.ssa Bianchi|.',
  'Am| |3|.| |M|ärz um 10 Uhr|.',
  'Am 1|.| Jan|.| 2025|.',
  'Im| |2|.| |Stock rechts|.',
  'Der| 3|.| und der 4|.| Mai|.',
  'Le 3| janv|.| 2025|.',
  'It| is due| Mar|.| 3rd|.',
  'Open| Mon|.| 9 to 5| and Sat|.| 10 to 2|.',
]

t.test('dots in an address, a version or a name do not end a sentence', (t) => {
  for (const text of texts) {
    const whole = text.replaceAll('|', '')
    for (const wholePieces of [false, true])
      t.same(sentences(new SentenceBuffer({ wholePieces }), text.split('|')), [whole], whole)
    t.same(sentences(new SentenceBuffer(), [...whole]), [whole], `${whole}, letter by letter`)
  }
  t.end()
})

t.test('an abbreviation that is also a word ends a sentence before a capital letter', (t) => {
  const said = [
    ...[
      'Never mind. ',
      'We open at nine. ',
      'No. ',
      'That is wrong. ',
      'He came two years ago in Sept. ',
      'Then he left. ',
    ],
    ...[
      'Due anni fa. ',
      'Poi basta. ',
      'On ouvre à sept. ',
      'Nous fermons tard. ',
      'Bis Ende Dez. ',
      'Wir schließen dann.',
    ],
  ]
  t.same(sentences(new SentenceBuffer(), [...said.join('')]), said)
  for (const whole of ['Das dauert mind. 3 Tage.', 'Die Fa. Müller ruft an.', 'Take No. 5 now.', 'On Sept. 5 we open.'])
    t.same(sentences(new SentenceBuffer(), [...whole]), [whole])
  t.end()
})

t.test('white space after a full stop ends a sentence, even if the white space is in the next token', (t) => {
  const said = ['Visit example.com. ', 'Then call us! ', 'Is it 3.14? ', 'Yes.']
  t.same(sentences(new SentenceBuffer(), [...said.join('')]), said)
  t.same(
    sentences(new SentenceBuffer(), ['Visit', ' example', '.', 'com', '.', ' Then', ' call', ' us', '!', '\n', 'Yes']),
    ['Visit example.com. ', 'Then call us!\n', 'Yes'],
  )
  const buffer = new SentenceBuffer()
  t.same([buffer.push('One'), buffer.push('.'), buffer.push(' Two')], [[], [], ['One. ']], 'as soon as it is known')
  t.end()
})

t.test('a number ends a sentence, unless it is a German ordinal', (t) => {
  for (const said of [
    ['I have 3. ', 'You have 4. ', 'Monday works.'],
    ['Es sind 3. ', 'Montag passt.'],
  ]) {
    t.same(sentences(new SentenceBuffer(), [said.join('')]), said)
    t.same(sentences(new SentenceBuffer(), [...said.join('')]), said)
  }
  const buffer = new SentenceBuffer()
  t.same([buffer.push('I have 3. '), buffer.flush()], [[], 'I have 3. '], 'a flush decides it')
  t.end()
})

t.test('text from a client that is a complete sentence is spoken without a flush', (t) => {
  const whole = (...pieces: string[]) => pieces.map((piece) => wholes.push(piece))
  const wholes = new SentenceBuffer({ wholePieces: true })
  t.same(whole('Good morning.', ' How are you?', 'Fine.', '"Yes!"', '你好！'), [
    ['Good morning.'],
    [' How are you?'],
    ['Fine.'],
    ['"Yes!"'],
    ['你好！'],
  ])
  for (const open of [
    'Write to info@example.',
    'Go to www.example.',
    'It costs 3.',
    'Ask Dr.',
    'Initials J.',
    'example.',
  ]) {
    t.same(new SentenceBuffer({ wholePieces: true }).push(open), [], open)
    t.same(new SentenceBuffer().push(open), [], open)
  }
  t.end()
})

t.test('a sentence from a client is complete if its last word is a plain word of at most 64 characters', (t) => {
  const whole = (text: string) => new SentenceBuffer({ wholePieces: true }).push(text).length > 0
  for (const text of [
    "It's Anna's.",
    '"Yes," he said (really)!',
    'That’s ‘it’.',
    'We have 3!',
    "(It is 'so'…)",
    'Ça va-t-il?',
  ])
    t.ok(whole(text), text)
  for (const text of ["Go on '.", 'Go to -.', `Go to ${'a'.repeat(64)}.`, 'It costs 3.', 'Go to a/b.'])
    t.notOk(whole(text), text)
  t.end()
})

t.test('hostile pieces of one character are cut into sentences quickly', (t) => {
  for (const unit of ["'", '’', "a'", "'-", '"', "a'.", '-', '!', '\u0301', "1'", ' ', 'Aa.\'"']) {
    const begun = process.cpuUsage()
    const buffer = new SentenceBuffer({ wholePieces: true })
    for (let at = 0; at < 1000; at++) buffer.push(unit[at % unit.length]!)
    t.ok(process.cpuUsage(begun).user < 500_000, `${JSON.stringify(unit)}: ${process.cpuUsage(begun).user} µs`)
  }
  t.end()
})
