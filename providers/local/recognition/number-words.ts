/** Converts a number, a price or a time to the usual English words. */

const ones =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const ordinals: Readonly<Record<string, string>> = {
  one: 'first',
  two: 'second',
  three: 'third',
  five: 'fifth',
  eight: 'eighth',
  nine: 'ninth',
  twelve: 'twelfth',
}
const scales = [
  [1_000_000_000, 'billion'],
  [1_000_000, 'million'],
  [1000, 'thousand'],
  [100, 'hundred'],
] as const
const currencies: Readonly<Record<string, readonly [string, string]>> = {
  $: ['dollars', 'cents'],
  '€': ['euros', 'cents'],
  '£': ['pounds', 'pence'],
}
/** If a number without commas has more digits than this, it is spoken digit by digit. */
const digitsMax = 4
const largest = 999_999_999_999

/**
 * Returns the spoken words for `written`, one word without the punctuation around it. A word without digits stays as it
 * is.
 */
export function numberWords(written: string): string[] {
  if (!/\d/.test(written)) return [written]
  const time = /^(\d{1,2}):(\d{2})$/.exec(written)
  if (time) return [...cardinal(Number(time[1])), ...minutes(time[2] as string)]
  const price = /^([$€£])(\d[\d,]*)(?:\.(\d\d))?$/.exec(written)
  if (price) return priceWords(price)
  const ordinal = /^(\d[\d,]*)(?:st|nd|rd|th)$/.exec(written)
  if (ordinal) return ordinalWords(digits(ordinal[1] as string))
  return written.match(/\d[\d,]*|\.(?=\d)|%|[^\d%.]+/g)?.flatMap(partWords) ?? [written]
}

function partWords(part: string, at: number, parts: readonly string[]): string[] {
  if (part === '.') return ['point']
  if (part === '%') return ['percent']
  if (!/\d/.test(part)) return /[\p{L}]/u.test(part) ? [part] : []
  return parts[at - 1] === '.' ? [...part].flatMap((digit) => cardinal(Number(digit))) : digits(part)
}

function priceWords([, sign = '$', whole = '0', rest]: readonly (string | undefined)[]): string[] {
  const [unit, part] = currencies[sign] ?? ['dollars', 'cents']
  return [...digits(whole), unit, ...(rest === undefined ? [] : [...cardinal(Number(rest)), part])]
}

function minutes(two: string): string[] {
  if (two === '00') return []
  return two.startsWith('0') ? ['oh', ...cardinal(Number(two))] : cardinal(Number(two))
}

function ordinalWords(words: readonly string[]): string[] {
  const last = words.at(-1) ?? ''
  const ending = last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`
  return [...words.slice(0, -1), ordinals[last] ?? ending]
}

function digits(text: string): string[] {
  const plain = text.replaceAll(',', '')
  const isOneByOne = plain.startsWith('0') || (plain === text && plain.length > digitsMax)
  if (isOneByOne || Number(plain) > largest) return [...plain].flatMap((digit) => cardinal(Number(digit)))
  return cardinal(Number(plain))
}

function cardinal(value: number): string[] {
  for (const [size, name] of scales)
    if (value >= size) {
      const rest = value % size
      return [...cardinal(Math.floor(value / size)), name, ...(rest > 0 ? cardinal(rest) : [])]
    }
  if (value < 20) return [ones[value] as string]
  return [tens[Math.floor(value / 10)] as string, ...(value % 10 > 0 ? [ones[value % 10] as string] : [])]
}
