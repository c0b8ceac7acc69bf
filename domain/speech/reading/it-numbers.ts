/** Italian number words. */
import type { Gender } from './language.ts'
import { groupsOf } from './numbers.ts'

const ones =
  'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove'.split(
    ' ',
  )
const tens = '- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta'.split(' ')
const powers = ['', '', 'milione', 'miliardo', 'bilione']

/** A ten loses its last vowel before "uno" and "otto", and "tre" has an accent at the end of a longer word. */
function below100(value: number): string {
  if (value < 20) return ones[value] ?? ''
  const ten = tens[Math.floor(value / 10)] ?? ''
  const one = value % 10
  if (one === 0) return ten
  if (one === 1 || one === 8) return ten.slice(0, -1) + ones[one]
  return ten + (one === 3 ? 'tré' : ones[one])
}

function below1000(value: number): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  const head = hundreds === 0 ? '' : `${hundreds === 1 ? '' : ones[hundreds]}cento`
  if (rest === 0) return head
  return head === '' ? below100(rest) : head + (rest === 3 ? 'tré' : below100(rest))
}

export function cardinal(digits: string, gender?: Gender): string {
  const parts: string[] = []
  let below = ''
  for (const { value, power } of groupsOf(digits)) {
    if (power > 1) {
      const name = powers[power] ?? ''
      parts.push(value === 1 ? `un ${name}` : `${below1000(value)} ${name.slice(0, -1)}i`)
    } else if (power === 1) below = value === 1 ? 'mille' : `${below1000(value).replace(/é$/, 'e')}mila`
    else below += below !== '' && value === 3 ? 'tré' : below1000(value)
  }
  const words = [...parts, below].filter((part) => part !== '').join(' ') || 'zero'
  if (words === 'uno' && gender !== undefined) return gender === 'f' ? 'una' : 'un'
  return words
}

const ordinals = '- primo secondo terzo quarto quinto sesto settimo ottavo nono decimo'.split(' ')

export function ordinal(value: number, isFeminine = false): string {
  const words = cardinal(String(value))
  const stem = words
    .replace(/(?:tré|tre)$/, 'tree')
    .replace(/sei$/, 'seii')
    .slice(0, -1)
  const word = value < 11 ? (ordinals[value] ?? '') : `${stem}esimo`
  return isFeminine ? word.replace(/o$/, 'a') : word
}

export function fraction(numerator: number, denominator: number, noun: string): string {
  if (numerator === 1 && denominator === 2) return genderOf(noun) === 'f' ? 'mezza' : 'mezzo'
  const name = denominator === 2 ? 'mezzo' : ordinal(denominator)
  return `${cardinal(String(numerator), 'm')} ${numerator === 1 ? name : name.replace(/o$/, 'i')}`
}

export function mixed(whole: string, numerator: number, denominator: number, noun: string): string {
  if (whole === '1' && /[ei]$/.test(noun)) return mixed(whole, numerator, denominator, singular(noun))
  const part = fraction(numerator, denominator, noun)
  if (genderOf(noun) === undefined && !/i$/.test(noun)) return `${cardinal(whole)} e ${part} ${noun}`.trimEnd()
  return `${cardinal(whole, genderOf(noun) ?? 'm')} ${noun} e ${part}`
}

const singular = (noun: string) => (noun.endsWith('i') ? `${noun.slice(0, -1)}o` : `${noun.slice(0, -1)}a`)

/** Feminine words whose ending does not show their gender. */
const feminine = /^(?:notte|chiave|classe|parte|carne|fine|voce|luce|mano|foto|auto|moto|radio)$/

/** Guesses a noun's gender, mostly by its ending. Undefined if the word is not taken for a noun. */
export function genderOf(word: string): Gender | undefined {
  if (
    /^(?:problema|programma|sistema|tema|clima|schema|diploma|panorama|grammo|euro|chilogrammo|milione|bilione|campione)$/.test(
      word,
    )
  )
    return 'm'
  if (word.length < 3 || /^(?:per|del|con|che|alle|dalle|delle|come)$/.test(word)) return undefined
  if (/(?:a|ione|tà)$/.test(word) || feminine.test(word)) return 'f'
  return /[oe]$/.test(word) ? 'm' : undefined
}
