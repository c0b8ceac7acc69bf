/**
 * Checks that comments have plain sentences. A comment names things by nouns and writes conditions with "if" and
 * "when". Chains with "of" and relative clauses describe a thing instead, so their number in a file has a limit.
 */
import t from 'tap'
import { code, files, isMade, parse, proseOf, read, scriptProse, scripts } from './source.ts'

/** Admired codebases have 0.5 to 2 "of" and 0.9 to 2.3 relative pronouns in 100 words. */
const shareMax = 0.025
/** A file may always have this many, even if it has few words. */
const countAllowed = 2
const wordsOfPart = /[a-z][a-z'’-]*/gi
const limited = {
  of: /\bof\b/gi,
  'relative pronouns': /\b(that|which|who|whom|whose|what|whoever|whatever)\b/gi,
}
/** Words that stand for a thing without naming it. */
const nameless = /\b(those|the ones?|none|nobody)\b/i

/** Returns the limits broken by one file's prose. */
function problemsOf(prose: readonly string[]): string[] {
  const text = prose.join(' ')
  const countOf = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  const words = countOf(wordsOfPart)
  const limit = Math.max(countAllowed, Math.floor(words * shareMax))
  const problems = Object.entries(limited)
    .map(([what, pattern]) => ({ what, count: countOf(pattern) }))
    .filter(({ count }) => count > limit)
    .map(({ what, count }) => `${count} ${what} in ${words} words, at most ${limit}`)
  return [...problems, ...prose.filter((comment) => nameless.test(comment)).map((comment) => `no noun: ${comment}`)]
}

t.test('the grammar rule detects text with too many relative pronouns or too many "of"', (t) => {
  t.same(problemsOf(['The name of the leg of the call of the line.']), ['3 of in 11 words, at most 2'])
  t.same(problemsOf(['What was taken of that which the one who asked had.']).length, 2)
  t.same(problemsOf(['If the call ends while the tool runs, the result is dropped.']), [])
  t.end()
})

const columnsMax = 120

t.test('no line of a comment is wider than 120 columns', (t) => {
  // A released migration is never edited.
  const isOpen = (file: string) =>
    /\.(ts|js|mjs|cjs|sh|py|go|java|cs)$/.test(file) && !file.startsWith('store/migrations/')
  const wide = files
    .filter((file) => isOpen(file) && !isMade(file))
    .flatMap((file) => {
      const mark = /\.(sh|py)$/.test(file) ? /^\s*#/ : /^\s*(\/\/|\/\*|\* )/
      const lines = read(file).split('\n')
      return lines.filter((line) => line.length > columnsMax && mark.test(line)).map((line) => `${file}: ${line}`)
    })
  t.same(wide, [])
  t.end()
})

t.test('no file has too many relative pronouns and "of" in its comments', (t) => {
  const prose = new Map([
    ...code.map((file) => [file, proseOf(parse(file))] as const),
    ...scripts.map((file) => [file, scriptProse(file)] as const),
  ])
  const problems = [...prose].flatMap(([file, each]) => problemsOf(each).map((problem) => `${file}: ${problem}`))
  t.same(problems, [])
  t.end()
})
