/** Turns the characters that no rule has read into characters that a voice can read. */
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

/** Cyrillic and Greek words are read in Latin letters, so that a name is not lost. */
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

/** Punctuation that voices read as pauses, in its ASCII form. */
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

/** Letters of Western European languages, which voices for these languages know. */
const western = /^[a-zA-ZÀ-ÖØ-öø-ÿœŒŸẞ]$/

/** Emoji and their parts, ornaments and invisible characters have no words. */
const silent =
  /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\p{Cc}|\p{Cf}|\p{Co}|\p{Cn}|\p{Cs}|\p{M}|[\u2300-\u27bf\u2b00-\u2bff\u3000-\u303f\ufffc\ufffd•·‣◦●○■□▪▫¿¡`´¨¸]|[\p{Sk}])$/u

/**
 * Returns the readable form of a character. Null if the character belongs to a script that the voice does not know, and
 * undefined if it is a sign without a word.
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
  if (/^[ -~]+$/.test(base)) return base
  const letters = transliterated.get(character.toLowerCase()) ?? transliterated.get(base.toLowerCase())
  return letters === undefined ? undefined : cased(letters, character)
}

function cased(letters: string, like: string): string {
  return like === like.toLowerCase() ? letters : letters.charAt(0).toUpperCase() + letters.slice(1)
}

/** Characters that stand for plain letters and digits: full width, circled, mathematical, subscripts. */
export const compatible =
  /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u2460-\u2473\u24b6-\u24e9\u2080-\u2089\ufb00-\ufb06\u2160-\u217f\u{1d400}-\u{1d7ff}\u{1f100}-\u{1f10a}]/gu
