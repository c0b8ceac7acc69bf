/** Recognizes texts that end inside a dictated mail address: "my email is john dot", "john@example". */
import { perLanguage } from './languages/languages.ts'
import { plain } from './phrases.ts'

/** Words are no mail address if more than this many come before the "at", or come after the "at" without a dot. */
const nameWordsMax = 6
const domainWordsMax = 4

const rulesOf = perLanguage(({ dictation: { mail, is } }) => ({
  announced: new RegExp(`(?:^| )(?:${mail.announcements})(?: (?:${is}))+(?: (.*))?$`, 'u'),
  at: new Set(['@', ...mail.at.split('|')]),
  dot: new Set(mail.dot.split('|')),
  remarks: new Set(mail.remarks.split('|')),
  signs: [mail.at.split('|')[0] as string, mail.dot.split('|')[0] as string] as const,
}))

export function isWithinMail(text: string, language: string): boolean {
  const { announced, at, dot } = rulesOf(language)
  const words = plain(withSpokenSigns(text, language))
  const announcement = announced.exec(words)
  if (announcement !== null && announcement[1] === undefined) return true
  const address = announcement?.[1]?.split(' ')
  const list = address ?? words.split(' ')
  const atAt = list.findLastIndex((word) => at.has(word))
  const isWritten = /\S@\S*[.]?\s*$/.test(text)
  if (atAt > 0 && (address !== undefined || isWritten || dot.has(list[atAt - 2] ?? '')))
    return isDomainOpen(list.slice(atAt + 1), dot)
  return address !== undefined && isNameOpen(address, language)
}

/** Returns true if the domain has no ending yet: "example" and "example dot". */
function isDomainOpen(domain: readonly string[], dot: ReadonlySet<string>): boolean {
  const dotAt = domain.findIndex((word) => dot.has(word))
  if (dotAt < 0) return domain.length <= domainWordsMax
  return dotAt === domain.length - 1
}

/** Returns true for the words after "my email is", unless they are a remark such as "not working". */
function isNameOpen(name: readonly string[], language: string): boolean {
  return name.length <= nameWordsMax && !rulesOf(language).remarks.has(name[0] ?? '')
}

/** Writes `@` and `.` as words: "my email's j.smith@example" becomes "my email is j dot smith at example". */
function withSpokenSigns(text: string, language: string): string {
  const [at, dot] = rulesOf(language).signs
  return text
    .replaceAll(/['’]s\b/g, ' is')
    .replaceAll('@', ` ${at} `)
    .replaceAll(/(?<=\S)\.(?=\S)/g, ` ${dot} `)
}
