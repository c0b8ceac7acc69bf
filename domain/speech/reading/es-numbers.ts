/** Spanish number words. */
import type { Gender } from './language.ts'
import { groupsOf } from './numbers.ts'

const ones =
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve'.split(
    ' ',
  )
const tens = '- - - treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ')
const hundreds =
  '- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos'.split(' ')

function below1000(value: number): string {
  if (value === 100) return 'cien'
  if (value > 100) return `${hundreds[Math.floor(value / 100)]}${value % 100 === 0 ? '' : ` ${below1000(value % 100)}`}`
  if (value < 30) return ones[value] ?? ''
  return `${tens[Math.floor(value / 10)]}${value % 10 === 0 ? '' : ` y ${ones[value % 10]}`}`
}

/** Before a noun, "uno" is "un", "veintiuno" is "veintiún". */
function shortened(words: string): string {
  return words.replace(/veintiuno$/, 'veintiún').replace(/uno$/, 'un')
}

/** Thousands count millions too: "dos mil millones". A million is counted like a masculine noun. */
function below1000000(value: number): string {
  const thousands = Math.floor(value / 1000)
  const rest = value % 1000
  if (thousands === 0) return below1000(rest)
  const head = thousands === 1 ? 'mil' : `${shortened(below1000(thousands))} mil`
  return rest === 0 ? head : `${head} ${below1000(rest)}`
}

export function cardinal(digits: string, gender?: Gender): string {
  const groups = groupsOf(digits)
  const sum = (least: number) =>
    groups
      .filter(({ power }) => Math.floor(power / 2) === least)
      .reduce((total, { value, power }) => total + value * (power % 2 === 1 ? 1000 : 1), 0)
  const parts = [
    million(sum(2), 'billón', 'billones'),
    million(sum(1), 'millón', 'millones'),
    sum(0) === 0 ? '' : below1000000(sum(0)),
  ]
  const words = parts.filter((part) => part !== '').join(' ') || 'cero'
  if (gender === undefined) return words
  if (gender !== 'f') return shortened(words)
  return words
    .replace(/uno$/, 'una')
    .replace(/cientos(?=$| (?!mill|bill))/g, 'cientas')
    .replace(/quinientos(?=$| (?!mill|bill))/g, 'quinientas')
}

function million(value: number, one: string, more: string): string {
  if (value === 0) return ''
  return value === 1 ? `un ${one}` : `${shortened(below1000000(value))} ${more}`
}

const ordinals =
  '- primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo decimotercero decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno vigésimo'.split(
    ' ',
  )

/** Returns null above twenty, because people then say the cardinal number. */
export function ordinal(value: number, ending: 'o' | 'a' | 'short'): string | null {
  const word = ordinals[value]
  if (word === undefined || value === 0) return null
  if (ending === 'a') return word.replace(/o$/, 'a')
  return ending === 'short' && /(?:primero|tercero)$/.test(word) ? word.slice(0, -1) : word
}

const parts: Readonly<Record<number, string>> = {
  2: 'medio',
  3: 'tercio',
  4: 'cuarto',
  5: 'quinto',
  6: 'sexto',
  7: 'séptimo',
  8: 'octavo',
  9: 'noveno',
  10: 'décimo',
  12: 'doceavo',
  16: 'dieciseisavo',
  20: 'veinteavo',
  32: 'treintaidosavo',
  64: 'sesentaicuatroavo',
  100: 'centésimo',
}

export function fraction(numerator: number, denominator: number, noun: string): string {
  if (numerator === 1 && denominator === 2) return genderOf(noun) === 'f' ? 'media' : 'medio'
  const name = parts[denominator] ?? ''
  return `${cardinal(String(numerator), 'm')} ${name}${numerator === 1 ? '' : 's'}`
}

export function mixed(whole: string, numerator: number, denominator: number, noun: string): string {
  const gender = genderOf(noun)
  const part = fraction(numerator, denominator, noun)
  if (gender === undefined) return `${cardinal(whole)} y ${part} ${noun}`.trimEnd()
  return `${cardinal(whole, gender)} ${whole === '1' ? noun.replace(/s$/, '') : noun} y ${part}`
}

/** Masculine words that end like feminine words. */
const masculine =
  /^(?:días?|mapas?|problemas?|programas?|sistemas?|temas?|idiomas?|climas?|kilogramas?|gramas?|millón|billón|avión|aviones|camión|camiones)$/
/** Feminine words whose ending does not show their gender. */
const feminine =
  /^(?:noches?|tardes?|calles?|llaves?|clases?|partes?|claves?|nubes?|manos?|fotos?|motos?|ve(?:z|ces)|vo(?:z|ces)|lu(?:z|ces)|flor|flores|mujer|mujeres)$/

/** Guesses a noun's gender, mostly by its ending. Undefined if the word is not taken for a noun. */
export function genderOf(word: string): Gender | undefined {
  if (masculine.test(word)) return 'm'
  if (feminine.test(word)) return 'f'
  if (/(?:as?|ión|iones|dad|dades|tades?)$/.test(word) && word.length > 2) return 'f'
  return /(?:[oe]s?|[lr]|les|res|nes)$/.test(word) && word.length > 3 ? 'm' : undefined
}
