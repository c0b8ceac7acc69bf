/** Reads a word by its stem if only the stem is in the lexicon: plurals, past tenses and forms with -ing. */

/** After these phonemes an English -s, -ed or -ing changes. */
const voicelessBeforeS = 'ptkfθ'
const hissing = 'szʃʒʧʤ'
const voicelessBeforeD = 'pkfθʃsʧ'
/** Between such a phoneme and a vowel, an American "t" is a short "d". The voice writes this sound as T. */
const beforeTap = 'AIOWYiuæɑəɛɪɹʊʌ'

/** Returns the stem's phonemes, or undefined if the stem has no entry. */
type Find = (stem: string) => string | undefined

/** Returns the word's phonemes, or undefined. `word` is in lower case. */
export function byStem(word: string, find: Find): string | undefined {
  return possessiveOrPlural(word, find) ?? pastTense(word, find) ?? continuous(word, find)
}

function possessiveOrPlural(word: string, find: Find): string | undefined {
  const [, stem] = /^(.{2,})'s$/.exec(word) ?? /^(.+[^s])s'?$/.exec(word) ?? /^(.+s)'$/.exec(word) ?? []
  if (stem === undefined) return undefined
  const spoken = find(stem)
  if (word.endsWith("s'") && spoken?.match(/[sz]$/)) return spoken
  const base =
    spoken ??
    (stem.endsWith('ie') ? find(`${stem.slice(0, -2)}y`) : stem.endsWith('e') ? find(stem.slice(0, -1)) : undefined)
  return base === undefined ? undefined : base + ending(base)
}

function ending(base: string): string {
  const last = base.at(-1) ?? ''
  if (voicelessBeforeS.includes(last)) return 's'
  return hissing.includes(last) ? 'ᵻz' : 'z'
}

function pastTense(word: string, find: Find): string | undefined {
  const base = word.endsWith('ed') ? verbOf(word.slice(0, -2), find) : undefined
  if (base === undefined) return undefined
  const last = base.at(-1) ?? ''
  if (last === 't' || last === 'd') return `${tapped(base)}ᵻd`
  return base + (voicelessBeforeD.includes(last) ? 't' : 'd')
}

function continuous(word: string, find: Find): string | undefined {
  const base = word.endsWith('ing') ? verbOf(word.slice(0, -3), find) : undefined
  return base === undefined ? undefined : `${tapped(base)}ɪŋ`
}

/** Finds "call" for "call-ed", "use" for "us-ed", "plan" for "plann-ed" and "try" for "tri-ed". */
function verbOf(stem: string, find: Find): string | undefined {
  if (stem.length < 2) return undefined
  const doubled = /(.)\1$/.test(stem) ? find(stem.slice(0, -1)) : undefined
  const withY = stem.endsWith('i') ? find(`${stem.slice(0, -1)}y`) : undefined
  return find(stem) ?? find(`${stem}e`) ?? doubled ?? withY
}

function tapped(base: string): string {
  return base.endsWith('t') && beforeTap.includes(base.at(-2) ?? ' ') ? `${base.slice(0, -1)}T` : base
}
