/**
 * Rules for web addresses, mail addresses, file names and versions. Their dots and symbols are spoken, as people say
 * them on the phone.
 */
import type { Language } from './language.ts'
import { cardinalOf, digitByDigit } from './numbers.ts'
import { type Rule, rule, wordEnd } from './rule.ts'

/** Top-level domains with two letters are spelled, except these, because they are words. */
const spokenEndings = /^(?:co|me|be|so|to)$/i
const endings =
  'com|org|net|info|edu|gov|mil|biz|io|ai|app|dev|shop|online|store|cloud|tech|site|xyz|club|blog|news|tv|co|me|eu|de|at|ch|es|fr|it|uk|us|ca|au|nz|ie|nl|be|pt|pl|cz|dk|se|no|fi|jp|cn|in|br|mx|ar|cl|ru|ua|tr|gr|hu|ro|za|example|test|local'
const fileEndings =
  'txt|pdf|docx?|xlsx?|pptx?|csv|json|xml|yaml|yml|html?|css|js|ts|py|md|zip|gz|tar|exe|png|jpe?g|gif|svg|mp3|mp4|wav|log|sh|sql|env'
const label = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}_-]{0,62}[\p{L}\p{N}])?`
const path = String.raw`(?::\d{1,5})?(?:[/?#][^\s<>"“”«»|\x5c^{}]{0,400})?`

export function addressRules(language: Language): Rule[] {
  const spoken = (address: string) => spokenAddress(address, language)
  return [
    rule(
      ['letter'],
      String.raw`https?:\/\/([^\s<>"“”«»|\x5c^{}]{1,500})`,
      (match) => ending(match, match[1] ?? '', spoken),
      'i',
    ),
    rule(
      ['letter'],
      String.raw`(?:ftp|wss?|sftp|ssh|mailto|tel|sip|sips|file):(?:\/\/)?([^\s<>"“”«»|\x5c^{}]{1,500})`,
      (match) => ending(match, match[0], spoken),
      'i',
    ),
    rule(
      ['letter', 'digit'],
      String.raw`[\p{L}\p{N}][\p{L}\p{N}._%+-]{0,63}@${label}(?:\.${label}){1,5}`,
      ([address]) => spoken(address),
    ),
    rule(
      ['letter', 'digit'],
      String.raw`(?:${label}\.){1,5}(?:${endings})(?![\p{L}\p{N}@-]|\.\p{L})${path}`,
      (match) => ending(match, match[0], spoken),
      'i',
    ),
    rule(
      ['letter'],
      String.raw`www\.(?:${label}\.){1,5}\p{L}{2,10}${wordEnd}${path}`,
      (match) => ending(match, match[0], spoken),
      'i',
    ),
    rule(
      ['letter', 'digit'],
      String.raw`[\p{L}\p{N}_][\p{L}\p{N}_-]{0,60}(?:\.[\p{L}\p{N}_-]{1,20}){0,3}\.(?:${fileEndings})${wordEnd}`,
      ([name]) => spoken(name),
    ),
    rule('sign', String.raw`\.(${fileEndings})${wordEnd}`, ([name]) => spoken(name)),
    rule('sign', String.raw`(?<![\p{L}\p{N}.])[~.]{0,2}(?:\/[\p{L}\p{N}_.-]{1,60}){2,12}\/?`, (match) =>
      ending(match, match[0], spoken),
    ),
  ]
}

/** Versions and IP addresses: "v2.1.3", "192.168.0.1", "3.11.0-rc.2" */
export function versionRules(language: Language): Rule[] {
  const { dot } = language.phrases
  const digits = (part: string) =>
    part.length > 2 || /^0\d/.test(part) ? digitByDigit(part, language) : cardinalOf(part, language)
  const dotted = (version: string) => version.split('.').map(digits).join(` ${dot} `)
  return [
    rule(
      'letter',
      String.raw`[vV](\d{1,4}(?:\.\d{1,4}){0,4})(?![\p{L}\p{N}])(?!\.\d)`,
      ({ 1: version = '', index, input }) => {
        const isNamed = input
          .slice(Math.max(0, index - 12), index)
          .trimEnd()
          .toLowerCase()
          .endsWith(language.versionWord.toLowerCase())
        return isNamed ? dotted(version) : `${language.versionWord} ${dotted(version)}`
      },
    ),
    rule('digit', String.raw`\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)`, ([address]) => dotted(address)),
    rule(
      'digit',
      String.raw`(?!\d{1,3}(?:\.\d{3}){2,4},\d{1,2}(?!\d))\d{1,4}(?:\.\d{1,4}){2,4}(?!\.?\d)`,
      ([version]) => (isGrouped(version, language) ? null : dotted(version)),
    ),
    rule(
      'letter',
      String.raw`(?:\p{L}{2,20})\.(?:js|io|ai|net|py|rs)${wordEnd}`,
      ([name]) => spokenAddress(name, language),
      'i',
    ),
  ]
}

/** "1.000.000" is a number in some languages, and a version in others. */
function isGrouped(version: string, { decimalMark }: Language): boolean {
  return decimalMark === ',' && /^[1-9]\d{0,2}(?:\.\d{3})+$/.test(version)
}

/** Leaves punctuation after a web or mail address to the sentence. */
function ending(match: RegExpExecArray, address: string, spoken: (address: string) => string): string {
  const punctuation = /[.,;:!?)\]'*]+$/.exec(match[0])?.[0] ?? ''
  const isBracket = punctuation === ')' && address.includes('(')
  if (punctuation === '' || isBracket) return spoken(address)
  return `${spoken(address.slice(0, -punctuation.length))}${punctuation.replace(/['*]/g, '')}`
}

/** Reads a web or mail address: its words, and its symbols by their names. */
function spokenAddress(address: string, language: Language): string {
  const parts: string[] = address.replace(/\/$/, '').match(/\p{L}+|\p{N}+|[^\p{L}\p{N}]/gu) ?? []
  const at = parts.lastIndexOf('@')
  const slash = parts.findIndex((part, index) => index > at && /[/?#]/.test(part) && parts[index - 1] !== ':')
  const last = slash < 0 ? parts.length : slash
  return parts
    .map((part, index) => spokenPart(part, { isEnding: index < last && parts[index - 1] === '.', language }))
    .join(' ')
}

function spokenPart(part: string, { isEnding, language }: { isEnding: boolean; language: Language }): string {
  if (/^\d/.test(part))
    return part.length > 2 || /^0\d/.test(part) ? digitByDigit(part, language) : cardinalOf(part, language)
  if (!/^\p{L}/u.test(part)) return language.addressSigns.get(part) ?? language.phrases.sign
  const isSpelled =
    /^www$/i.test(part) ||
    (isEnding && part.length === 2 && !spokenEndings.test(part)) ||
    /^(?:pdf|csv|xml|html?|js|ts|mp|xlsx?)$/i.test(part)
  return isSpelled ? language.phrases.letters([...part.toUpperCase()]) : part
}
