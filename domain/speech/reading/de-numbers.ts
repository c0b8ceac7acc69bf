/** German number words. */
import type { Gender } from './language.ts'
import { groupsOf } from './numbers.ts'

const ones =
  'null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn'.split(
    ' ',
  )
const tens = '- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig'.split(' ')
const powers = [
  ['Million', 'Millionen'],
  ['Milliarde', 'Milliarden'],
  ['Billion', 'Billionen'],
]

/** Reads 1 as "ein", as in "einundzwanzig". If the whole number ends in "ein", `cardinal` adds the ending. */
function below1000(value: number): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  const head = hundreds === 0 ? '' : `${ones[hundreds]}hundert`
  if (rest === 0) return head
  if (rest < 20) return head + ones[rest]
  const ten = tens[Math.floor(rest / 10)]
  return `${head}${rest % 10 === 0 ? '' : `${ones[rest % 10]}und`}${ten}`
}

export function cardinal(digits: string, gender?: Gender): string {
  const parts: string[] = []
  let below = ''
  for (const { value, power } of groupsOf(digits)) {
    if (power > 1) parts.push(`${value === 1 ? 'eine' : below1000(value)} ${powers[power - 2]?.[value === 1 ? 0 : 1]}`)
    else below += power === 1 ? `${below1000(value)}tausend` : below1000(value)
  }
  const words = [...parts, below].filter((part) => part !== '').join(' ')
  if (words === '') return 'null'
  return /ein$/.test(words) ? words + (gender === undefined ? 's' : gender === 'f' ? 'e' : '') : words
}

/** 1999 is "neunzehnhundertneunundneunzig", 2024 "zweitausendvierundzwanzig". */
export function year(digits: string): string {
  const value = Number(digits)
  if (value < 1100 || value > 1999) return cardinal(digits)
  return `${below1000(Math.floor(value / 100))}hundert${value % 100 === 0 ? '' : cardinal(String(value % 100))}`
}

const irregular: Readonly<Record<string, string>> = { ein: 'erst', drei: 'dritt', sieben: 'siebt', acht: 'acht' }

/** Returns an ordinal without its ending: "dritt". */
export function ordinalStem(digits: string): string {
  const words = cardinal(digits, 'm')
  const rest = Number(digits) % 100
  if (rest === 0 || rest > 19) return `${words}st`
  const last = ones[rest] ?? ''
  return words.slice(0, -last.length) + (irregular[last] ?? `${last}t`)
}

const parts: Readonly<Record<number, string>> = {
  2: 'Halbe',
  3: 'Drittel',
  7: 'Siebtel',
  8: 'Achtel',
  100: 'Hundertstel',
}

function partName(denominator: number): string {
  const stem = ordinalStem(String(denominator))
  return parts[denominator] ?? `${stem.charAt(0).toUpperCase()}${stem.slice(1)}el`
}

export function fraction(numerator: number, denominator: number, noun: string): string {
  if (numerator === 1 && denominator === 2) {
    const gender = genderOf(noun)
    return gender === undefined
      ? 'ein halb'
      : gender === 'f'
        ? 'eine halbe'
        : gender === 'm'
          ? 'ein halber'
          : 'ein halbes'
  }
  return `${cardinal(String(numerator), 'n')} ${partName(denominator)}`
}

export function mixed(whole: string, numerator: number, denominator: number, noun: string): string {
  const isHalf = numerator === 1 && denominator === 2
  const number = isHalf
    ? `${cardinal(whole, 'm')}einhalb`
    : `${cardinal(whole)} ${fraction(numerator, denominator, '')}`
  return `${number} ${noun}`.trimEnd()
}

const feminine =
  /(?:e|ung|heit|keit|schaft|ion|tät|ur|[Pp]erson|[Nn]acht|[Nn]ummer|[Aa]ntwort|[Ss]tadt|[Mm]ail|[Tt]ür|[Ff]rau|[Ff]irma|^Kundin|arbeiterin)$/
/** Nouns that end like feminine nouns, but are not feminine. */
const notFeminine =
  /^(?:Kunde|Kollege|Junge|(?:Vor|Nach|Benutzer)?[Nn]ame|Gedanke|Buchstabe|Experte|Käse|Auge|Ende|Wochenende|Gebäude|Interesse)$/
const neuter = /(?:chen|lein|ment|um|Jahr|Kilo|Pfund|Gramm|Glas|Stück|Blatt|Paket|Bier|Zimmer|Brot)$/

/** Guesses a noun's gender by its ending. Undefined for other words: only nouns begin with a capital letter. */
export function genderOf(word: string): Gender | undefined {
  if (!/^\p{Lu}\p{Ll}/u.test(word)) return undefined
  return feminine.test(word) && !notFeminine.test(word) ? 'f' : neuter.test(word) ? 'n' : 'm'
}
