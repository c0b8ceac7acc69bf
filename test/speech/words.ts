/**
 * Word error rate, and a normal form in which two spellings of the same speech are equal. References and hypotheses use
 * the same form.
 */

const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  )
const tens = '- - twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')

const contractions: readonly [RegExp, string][] = [
  [/\bwon't\b/g, 'will not'],
  [/\bcan't\b|\bcannot\b/g, 'can not'],
  [/n't\b/g, ' not'],
  [/\b(i)'m\b/g, '$1 am'],
  [/\b(it|that|what|there|here|who|where|he|she|let)'s\b/g, '$1 is'],
  [/'re\b/g, ' are'],
  [/'ve\b/g, ' have'],
  [/'ll\b/g, ' will'],
  [/'d\b/g, ' would'],
]

export type ErrorCount = { errors: number; words: number }

/** Returns the words in lower case, with contractions written out and numbers in words, without punctuation. */
export function words(text: string): string[] {
  const lower = text.toLowerCase().normalize('NFKD').replace(/[’‘]/g, "'")
  const expanded = contractions.reduce((result, [pattern, by]) => result.replace(pattern, by), lower)
  return expanded
    .replace(/(\d),(?=\d{3})/g, '$1')
    .replace(/(\d)([a-z])/g, '$1 $2')
    .replace(/\d+/g, (digits) => ` ${numberWords(Number(digits))} `)
    .replace(/'/g, '')
    .replace(/[^a-z]+/g, ' ')
    .trim()
    .split(' ')
    .filter((word) => word !== '')
}

const digitNames: Readonly<Record<string, string>> = {
  de: 'null eins zwei drei vier fünf sechs sieben acht neun zehn',
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve diez',
  fr: 'zéro un deux trois quatre cinq six sept huit neuf dix',
  it: 'zero uno due tre quattro cinque sei sette otto nove dieci',
  ru: 'ноль один два три четыре пять шесть семь восемь девять десять',
}

/**
 * Returns the words of another language than English, in lower case, without accents and punctuation. The numbers from
 * 0 to 10 are written as words.
 */
export function wordsIn(language: string): (text: string) => string[] {
  const names = digitNames[language]?.split(' ') ?? []
  return (text) =>
    text
      .replace(/\d+/g, (digits) => names[Number(digits)] ?? digits)
      .toLowerCase()
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '')
}

/**
 * Counts the substitutions, insertions and deletions between the recognized text and the reference, and the reference's
 * words.
 */
export function wordErrors(reference: string, hypothesis: string, split = words): ErrorCount {
  const expected = split(reference)
  const found = split(hypothesis)
  let row = found.map((_, i) => i + 1)
  row.unshift(0)
  for (let i = 1; i <= expected.length; i++) {
    const next = [i]
    for (let j = 1; j <= found.length; j++) {
      const substituted = row[j - 1]! + (expected[i - 1] === found[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return { errors: row.at(-1)!, words: expected.length }
}

/** Returns the errors per word over all prompts, so a long prompt counts more than a short one. */
export function errorRate(counts: readonly ErrorCount[]): number {
  const sum = (pick: (count: ErrorCount) => number) => counts.reduce((total, count) => total + pick(count), 0)
  return sum((count) => count.errors) / sum((count) => count.words)
}

function numberWords(n: number): string {
  if (n < 20) return units[n]!
  if (n < 100) return n % 10 === 0 ? tens[n / 10]! : `${tens[Math.floor(n / 10)]!} ${units[n % 10]!}`
  if (n < 1000) return compound(n, 100, 'hundred')
  if (n < 1_000_000) return compound(n, 1000, 'thousand')
  return String(n)
    .split('')
    .map((digit) => units[Number(digit)]!)
    .join(' ')
}

function compound(n: number, base: number, name: string): string {
  const head = `${numberWords(Math.floor(n / base))} ${name}`
  return n % base === 0 ? head : `${head} ${numberWords(n % base)}`
}
