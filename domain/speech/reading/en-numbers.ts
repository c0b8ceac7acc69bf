/** English number words. */
import { groupsOf } from './numbers.ts'
import { wordsOf } from './rule.ts'

export const ones =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const powers = ['', ' thousand', ' million', ' billion', ' trillion']

function below1000(value: number): string {
  if (value < 20) return ones[value] ?? ''
  if (value < 100) return `${tens[Math.floor(value / 10)]}${value % 10 === 0 ? '' : ` ${ones[value % 10]}`}`
  const rest = value % 100
  return `${ones[Math.floor(value / 100)]} hundred${rest === 0 ? '' : ` ${below1000(rest)}`}`
}

export function cardinal(digits: string): string {
  const groups = groupsOf(digits).map(({ value, power }) => `${below1000(value)}${powers[power]}`)
  return groups.length === 0 ? 'zero' : groups.join(' ')
}

const irregular = wordsOf(`
one | first
two | second
three | third
five | fifth
eight | eighth
nine | ninth
twelve | twelfth
`)

export function ordinal(digits: string): string {
  return cardinal(digits).replace(/\w+$/, (word) => irregular.get(word) ?? `${word.replace(/y$/, 'ie')}th`)
}

/** 1999 is "nineteen ninety nine", 1905 "nineteen oh five", 2005 "two thousand five". */
export function year(digits: string): string {
  const value = Number(digits)
  if (value < 1100 || value > 2099 || value % 1000 < 10) return cardinal(digits)
  const rest = value % 100
  const head = below1000(Math.floor(value / 100))
  if (rest === 0) return `${head} hundred`
  return `${head} ${rest < 10 ? `oh ${ones[rest]}` : below1000(rest)}`
}

function partsName(denominator: number, isOne: boolean): string {
  const name = denominator === 2 ? 'half' : denominator === 4 ? 'quarter' : ordinal(String(denominator))
  return isOne ? name : denominator === 2 ? 'halves' : `${name}s`
}

export const fraction = (numerator: number, denominator: number) =>
  `${cardinal(String(numerator))} ${partsName(denominator, numerator === 1)}`

/** "Two and a half cups", "one and an eighth", "three and two thirds". */
export function mixed(whole: string, numerator: number, denominator: number, noun: string): string {
  const article = /^(8|11|18)/.test(String(denominator)) ? 'an' : 'a'
  const part = numerator === 1 ? `${article} ${partsName(denominator, true)}` : fraction(numerator, denominator)
  return `${cardinal(whole)} and ${part} ${noun}`.trimEnd()
}
