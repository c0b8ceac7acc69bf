/**
 * Written forms such as "$4.50" are spoken as words of the text's language, and each word has its position in the text.
 */
import t from 'tap'
import { segments, sentences } from '../../domain/speech/reading/sentences.ts'
import { fc } from '../random.ts'
import { english } from './written-forms/english.ts'
import { french } from './written-forms/french.ts'
import { german } from './written-forms/german.ts'
import { italian } from './written-forms/italian.ts'
import { spanish } from './written-forms/spanish.ts'

const tables = { en: english, de: german, es: spanish, fr: french, it: italian }
const languages = Object.keys(tables)
const charsMax = 300
const read = (text: string, language: string) => sentences(text, { language, charsMax })
const spoken = (text: string, language: string) => read(text, language).map((sentence) => sentence.text)

for (const [language, rows] of Object.entries(tables)) {
  t.test(`written forms are spoken as the words of a language: ${language}`, (t) => {
    for (const [written, words] of rows) t.equal(spoken(written, language).join(' / '), words, written)
    t.ok(rows.length >= (language === 'en' ? 120 : 45), `${rows.length} forms`)
    t.equal(new Set(rows.map(([written]) => written)).size, rows.length, 'each form once')
    t.end()
  })
}

t.test('a language tag may have a region, and other languages are read like English', (t) => {
  t.same(spoken('Am 3.4.', 'de-AT'), ['Am dritten April.'])
  t.same(spoken('On 03/04/2024', 'en-US'), ['On March fourth, twenty twenty four'])
  t.same(spoken('On 03/04/2024', 'en-GB'), ['On April third, twenty twenty four'])
  t.same(spoken('5 km', 'pt-BR'), ['five kilometers'])
  t.end()
})

/** Returns the position in the text after each spoken word. */
function placesOf(text: string, language: string): number[] {
  return read(text, language).flatMap(({ text, sourcePlace }) =>
    [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => sourcePlace(index + word.length)),
  )
}

function assertPlaces(text: string, language: string): void {
  const places = placesOf(text, language)
  let before = 0
  for (const place of places) {
    if (place < before || place > text.length)
      throw new Error(`place ${place} behind ${before} in ${JSON.stringify(text)}`)
    before = place
  }
  const unspoken = text.slice(before)
  if (places.length > 0 && /[a-z0-9€$%]/i.test(unspoken)) throw new Error(`${JSON.stringify(unspoken)} has no place`)
}

t.test('each spoken word has its position in the text, in order, and the last word is at the end', (t) => {
  for (const [language, rows] of Object.entries(tables)) for (const [written] of rows) assertPlaces(written, language)
  const [sentence] = read('Pay $4.50 to Dr. Wu **today**.', 'en')
  const placeBehind = (word: string) => sentence!.sourcePlace(sentence!.text.indexOf(word) + word.length)
  t.equal(sentence!.text, 'Pay four dollars and fifty cents to Doctor Wu today.')
  t.equal(placeBehind('Pay'), 'Pay'.length)
  t.equal(placeBehind('four'), 'Pay '.length, 'the amount is not complete')
  t.equal(placeBehind('cents'), 'Pay $4.50'.length)
  t.equal(placeBehind('Doctor'), 'Pay $4.50 to Dr.'.length)
  t.equal(placeBehind('today'), 'Pay $4.50 to Dr. Wu **today**'.length)
  t.end()
})

const forms = Object.values(tables).flatMap((rows) => rows.map(([written]) => written))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(...'0123456789.,-–/:€$%°½ªº#@&*_+()[]\'"aAmMk \n'), maxLength: 60 }),
  fc
    .array(fc.oneof(fc.constantFrom(...forms), fc.string({ unit: 'grapheme', maxLength: 10 })), { maxLength: 8 })
    .map((parts) => parts.join(' ')),
)

t.test('any text is read without an exception, digits become words, and positions are in order', (t) => {
  fc.assert(
    fc.property(text, fc.constantFrom(...languages), (text, language) => {
      const all = spoken(text, language)
      if (all.some((sentence) => sentence.length > charsMax)) throw new Error('a sentence is too long')
      if (all.some((sentence) => /\p{N}/u.test(sentence))) throw new Error(`a digit is left in ${JSON.stringify(all)}`)
      if (language === 'en' && all.some((sentence) => !/^[ -~]*$/.test(sentence))) throw new Error('not in ASCII')
      if (!/[\u200b-\u200f<\\[\]|]/.test(text)) assertPlaces(text, language)
    }),
    { numRuns: 2000 },
  )
  t.end()
})

/** These ornaments, marks and silent letters have no meaning for a listener. */
const ornaments = /[ЪЬъьꚜꚝ\p{Extended_Pictographic}\u2300-\u27bf\u2b00-\u2bff\u02c0-\u02ff\u0300-\u036f<>\\`|~^·]/u

t.test('no letter, number, currency or mathematical sign is left out', (t) => {
  for (const language of languages) {
    const lost: string[] = []
    for (let code = 0x21; code < 0x10000; code++) {
      const sign = String.fromCharCode(code)
      if (!/[\p{L}\p{N}\p{Sc}\p{Sm}]/u.test(sign) || ornaments.test(sign)) continue
      const words = spoken(`nun ${sign} nun`, language).join(' ').split(' ')
      if (words.length < 3) lost.push(sign)
    }
    t.same(lost, [], language)
  }
  t.end()
})

const hostile = [
  ...[
    '1',
    '1.',
    '1,000',
    '1-',
    '1–',
    '555–',
    '1 (',
    '1k',
    '€1',
    '5€',
    '½–',
    '1′',
    '1⁻',
    '1 ',
    '1\u00a0',
    '.5',
    '1/',
    '1:',
    '1x',
    '3. ',
  ],
  ...[
    'a.',
    'a.a@',
    'a-',
    'A1',
    'AB1',
    'M. ',
    'e.g.',
    'http://a',
    'www.',
    '/a',
    '@',
    '#',
    '*',
    '_',
    '-',
    '(',
    '+1 ',
    '$',
    'US$1',
    '1 km/',
    '1°',
  ],
  ...['α', 'é', '你', '😀', '𝐀', ' ', '– ', 'the quick '],
]

t.test('hostile texts are read in linear time, within the time limit', (t) => {
  const cpuMs = (text: string, language: string) => {
    const begun = process.cpuUsage()
    for (const segment of segments(text)) read(segment.text, language)
    return process.cpuUsage(begun).user / 1000
  }
  for (const language of languages) {
    cpuMs('5 km, $5 and www.example.com. '.repeat(100), language)
    const sum = { short: 0, long: 0 }
    for (const unit of hostile) {
      const long = `a${unit.repeat(10_000 / unit.length)}b`
      sum.short += cpuMs(long.slice(0, 2500), language)
      const ms = cpuMs(long, language)
      sum.long += ms
      t.ok(ms < 250, `${language}, ${JSON.stringify(unit)}: ${ms} ms`)
    }
    t.ok(sum.long < 8 * sum.short, `four times the text takes ${sum.long / sum.short} times the time: ${language}`)
  }
  t.end()
})
