/** Turns characters that no reading rule matches into characters that a voice can say. */
import type { Language } from './language.ts'
import { wordsOf } from './rule.ts'

/** Letters without a decomposition in Unicode. */
const spelled = wordsOf(`
ø Ø | o
æ Æ | ae
œ Œ | oe
ß ẞ | ss
đ Đ ð Ð | d
ł Ł | l
þ Þ | th
ı | i
ħ Ħ | h
ŋ Ŋ | ng
`)

/** Cyrillic and Greek words are read in Latin letters, so no name is lost. */
const transliterated = wordsOf(`
а | a
б | b
в | v
г ґ | g
д | d
е э є | e
ё | yo
ж | zh
з | z
и і й | i
ї | yi
к | k
л | l
м | m
н | n
о | o
п | p
р | r
с | s
т | t
у | u
ф | f
х | kh
ц | ts
ч | ch
ш | sh
щ | shch
ы | y
ю | yu
я | ya
ь ъ |
α ά | a
β | v
γ | g
δ | d
ε έ | e
ζ | z
η ή ι ί ϊ ΐ | i
θ | th
κ | k
λ | l
μ | m
ν | n
ξ | x
ο ό ω ώ | o
π | p
ρ | r
σ ς | s
τ | t
υ ύ ϋ | y
φ | f
χ | ch
ψ | ps
`)

/** Voices read this punctuation as pauses. */
const punctuation = wordsOf(`
‘ ’ ‚ ‛ ′ ʼ | '
“ ” „ ‟ ″ « » ‹ › | "
‐ ‑ ‒ | -
… | ...
、 ， ؛ ، | ,
。 ． | .
！ | !
？ ؟ | ?
： | :
； | ;
（ [ { 【 「 『 | (
） ] } 】 」 』 | )
`)

/** Voices for Western European languages know these letters. */
const western = /^[a-zA-ZÀ-ÖØ-öø-ÿœŒŸẞ]$/

/** Emoji and their parts, ornaments, other punctuation and invisible characters have no words. */
const silent =
  /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\p{Cc}|\p{Cf}|\p{Co}|\p{Cn}|\p{Cs}|\p{M}|\p{P}|\p{Z}|\p{Sk}|[\u2300-\u27bf\u2b00-\u2bff\ufffc\ufffd`])$/u

/**
 * Returns a character in its readable form. The result is null if the voice does not know the character's script, and
 * undefined if the character is a symbol without a word.
 */
export function readable(character: string, { tag, isAscii }: Language): string | null | undefined {
  if (/^[ -~]$/.test(character) && !'[]{}`'.includes(character)) return character
  if (tag === 'es' && (character === '¿' || character === '¡')) return character
  const mark = punctuation.get(character)
  if (mark !== undefined) return mark
  if (!isAscii && western.test(character) && !/[ðÐþÞ]/.test(character)) return character
  const latin = latinOf(character)
  if (latin !== undefined) return latin
  if (silent.test(character)) return ''
  return /^\p{L}$/u.test(character) ? null : undefined
}

function latinOf(character: string): string | undefined {
  const plain = spelled.get(character)
  if (plain !== undefined) return cased(plain, character)
  const base = character.normalize('NFKD').replace(/\p{M}/gu, '')
  if (/^[ -/:-~]+$/.test(base) && !/\p{Sm}/u.test(character)) return base
  const letters = transliterated.get(character.toLowerCase()) ?? transliterated.get(base.toLowerCase())
  return letters === undefined ? undefined : cased(letters, character)
}

function cased(letters: string, like: string): string {
  return like === like.toLowerCase() ? letters : letters.charAt(0).toUpperCase() + letters.slice(1)
}

/**
 * Characters for plain letters and digits: full width, circled, mathematical, subscripts, digits in other scripts, and
 * squared units such as ㎏. Fractions and raised numbers have rules.
 */
export const compatible =
  /(?![0-9\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2150-\u215e])\p{N}|[\uff21-\uff3a\uff41-\uff5a\u24b6-\u24e9\ufb00-\ufb06\u3371-\u33df\u{1d400}-\u{1d7ff}]/gu

/** Returns the plain letters and digits for a character in `compatible`. */
export function plainOf(character: string): string {
  const plain = character.normalize('NFKD').replace('⁄', '/')
  if (/^[ -~²³μ]+$/.test(plain)) return plain
  return /\p{Nd}/u.test(character) ? String(digitValue(character)) : character
}

/** A script's ten digits follow each other. */
function digitValue(character: string): number {
  const code = character.codePointAt(0) ?? 0
  let value = 0
  while (/\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++
  return value % 10
}
