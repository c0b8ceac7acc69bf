/** Rules for abbreviations and initials. Their full stops must not end a sentence. */
import { codeOfSign } from './currencies.ts'
import type { Language } from './language.ts'
import { anyOf, gap, type Rule, rule, wordEnd } from './rule.ts'

/**
 * If an abbreviation's words in the language's table end with a full stop, it can end a sentence. Other abbreviations
 * precede a name or a number.
 */
export function abbreviationRules(language: Language): Rule[] {
  const spaced = anyOf(language.abbreviations.keys()).replaceAll(/\\\.(?=[^|)])/g, `\\.${gap}?`)
  return [
    rule('letter', `(${spaced})(?<=\\.|(?=[^\\p{L}\\p{N}]|$))(?![\\p{L}\\p{N}]\\p{L})`, (match) => {
      const written = match[0].replace(/[\s\u00a0\u202f\u2009]/g, '')
      // In "Fr. 12.50" the abbreviation is a currency sign.
      const behind = match.input.slice(match.index + match[0].length).trimStart()
      if (codeOfSign.has(written) && /^\d/.test(behind)) return null
      return spokenAbbreviation(match, language.abbreviations.get(written) ?? '')
    }),
    // Abbreviations with full stops inside: "U.S.A.", "Ph.D."
    rule('letter', `((?:\\p{L}\\.){2,8})(?!\\p{L})`, (match) => {
      const letters = (match[1] ?? '').split('.').filter(Boolean)
      return spokenAbbreviation(match, language.phrases.letters(letters.map((letter) => letter.toUpperCase())), true)
    }),
    // Initials, as in "J. R. R. Tolkien" and "M. Dupont".
    rule(
      'letter',
      `(\\p{Lu})\\.(?=${gap}?(?:\\p{Lu}\\.|\\p{Lu}\\p{Ll}))(?<!\\p{L}{2}\\.)`,
      ([, letter = '']) => letter,
    ),
    ...programsOf(language),
  ]
}

function spokenAbbreviation(
  { 0: written, index, input }: RegExpExecArray,
  word: string,
  canEnd = word.endsWith('.'),
): string {
  const plain = word.replace(/\.$/, '')
  if (!written.endsWith('.')) return plain
  const rest = input.slice(index + written.length, index + written.length + 3)
  return /^\s*$/.test(rest) || (canEnd && /^["')\]]*\s+[\p{Lu}"“(]/u.test(rest)) ? `${plain}.` : plain
}

/** Names with a symbol behind a letter: "C++", "C#", "A+" */
function programsOf({ signs }: Language): Rule[] {
  const plus = signs.get('+') ?? ''
  return [
    rule('letter', `(\\p{Lu})\\+\\+${wordEnd}`, ([, letter = '']) => `${letter} ${plus} ${plus}`),
    rule('letter', `([CFJ])#${wordEnd}`, ([, letter = '']) => `${letter} ${signs.get('♯') ?? 'sharp'}`),
  ]
}
