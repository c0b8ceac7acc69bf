/** French number words. */
import type { Gender } from './language.ts'
import { groupsOf } from './numbers.ts'

const ones =
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf'.split(
    ' ',
  )
const tens = '- - vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt'.split(' ')
const powers = ['', 'mille', 'million', 'milliard', 'billion']

function below100(value: number): string {
  if (value < 20) return ones[value] ?? ''
  const ten = Math.floor(value / 10)
  const rest = ten === 7 || ten === 9 ? value % 20 : value % 10
  if (rest === 0) return value === 80 ? 'quatre-vingts' : (tens[ten] ?? '')
  const isJoined = (rest === 1 || rest === 11) && ten < 8
  return `${tens[ten]}${isJoined ? ' et ' : '-'}${ones[rest]}`
}

/** "Cents" and "quatre-vingts" have an "s" only at the end of a number. */
function below1000(value: number, isLast: boolean): string {
  const hundreds = Math.floor(value / 100)
  const rest = value % 100
  const tail = rest === 80 && !isLast ? 'quatre-vingt' : rest === 0 ? '' : below100(rest)
  if (hundreds === 0) return tail
  const head = `${hundreds === 1 ? '' : `${ones[hundreds]} `}cent${hundreds > 1 && rest === 0 && isLast ? 's' : ''}`
  return tail === '' ? head : `${head} ${tail}`
}

export function cardinal(digits: string, gender?: Gender): string {
  const words = groupsOf(digits).map(({ value, power }) => {
    if (power === 1) return value === 1 ? 'mille' : `${below1000(value, false)} mille`
    return power === 0 ? below1000(value, true) : `${below1000(value, true)} ${powers[power]}${value > 1 ? 's' : ''}`
  })
  const text = words.length === 0 ? 'zéro' : words.join(' ')
  return gender === 'f' ? text.replace(/(^|[ -])un$/, '$1une') : text
}

export function ordinal(digits: string, gender: Gender = 'm'): string {
  if (digits === '1') return gender === 'f' ? 'première' : 'premier'
  const words = cardinal(digits).replace(/(cent|vingt)s$/, '$1')
  return `${words.replace(/cinq$/, 'cinqu').replace(/neuf$/, 'neuv').replace(/e$/, '')}ième`
}

const parts: Readonly<Record<number, string>> = { 2: 'demi', 3: 'tiers', 4: 'quart' }

export function fraction(numerator: number, denominator: number, noun: string): string {
  const name = parts[denominator] ?? ordinal(String(denominator))
  const ending = numerator === 1 || name.endsWith('s') ? '' : 's'
  return `${cardinal(String(numerator), denominator === 2 ? (genderOf(noun) ?? 'm') : 'm')} ${name}${ending}`
}

export function mixed(whole: string, numerator: number, denominator: number, noun: string): string {
  const gender = genderOf(noun)
  const isHalf = numerator === 1 && denominator === 2
  const part = isHalf ? `demi${gender === 'f' ? 'e' : ''}` : fraction(numerator, denominator, noun)
  return gender === undefined
    ? `${cardinal(whole)} et ${part} ${noun}`.trimEnd()
    : `${cardinal(whole, gender)} ${whole === '1' ? noun.replace(/s$/, '') : noun} et ${part}`
}

const masculine =
  /(?:[mb]?[mt]re|mme|rre|cle|[iè]?[sè]me|age|one|mbre|ple|upe|èle|ode|ice|mpte|ste|ege|ège|gue|fre|phe|cre|aire|oire|ire|que|cise|rde|^frère|^père|^site|texte|véhicule|^légume)s?$/

/** Guesses a noun's gender, mostly by its ending. Undefined if the word is not taken for a noun. */
export function genderOf(word: string): Gender | undefined {
  if (
    /^(?:nuit|sœur|clé|clef|couleur|valeur|erreur|fleur|part|main|fin|voix|personne|heure|chambre|semaine|adresse|page|fois|table|minute|seconde|question|piste|liste|lettre|boutique|banque|image)s?$/.test(
      word,
    )
  )
    return 'f'
  if (/^(?:de|le|et|que|ce|se|ne|je|me|te|une?)$/.test(word) || word.length < 3) return undefined
  if (/^(?:mill|bill|cam|av|l|champ|esp)ions?$/.test(word)) return 'm'
  if (/(?:ion|té|ée)s?$/.test(word)) return 'f'
  return /es?$/.test(word) && !masculine.test(word) ? 'f' : 'm'
}
