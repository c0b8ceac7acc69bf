/** Checks the words in code and documents against docs/glossary.md. */
import t from 'tap'
import { isScalar, parseDocument, visit } from 'yaml'
import { code, commentsOf, files, isMade, namesOf, parse, read, scriptComments, scripts, titlesOf } from './source.ts'

/** Returns the first column of the table under a glossary heading. */
function refused(heading: string): string[] {
  const section = read('docs/glossary.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+) \|/gm)].map(([, word]) => (word as string).trim())
  return rows.filter((word) => !/^(word|part|---)/.test(word))
}

const words = new RegExp(`\\b(${refused('Refused words').join('|')})\\b`, 'i')
const parts = new Set(refused('Refused names').map((part) => part.toLowerCase()))
/**
 * Matches these words at a sentence's start: at the comment's start, or after a full stop or a colon. A word in
 * backticks is a name and does not match.
 */
const beginning = /(?:^|[.:] )(What|Who|Whom|Whose|Whoever|Whatever|Of|Told|Said|Asked)\b/

const partsOf = (name: string) => name.split(/(?=[A-Z])|[-_.\d]/).map((part) => part.toLowerCase())
const isRefusedName = (name: string) => partsOf(name).some((part) => parts.has(part))

const sources = code.filter((file) => !file.startsWith('test/rules/words')).map(parse)

t.test('the glossary lists refused words and refused parts of names', (t) => {
  t.ok(refused('Refused words').length > 10)
  t.ok(parts.size > 10)
  t.match('nobody is told', words)
  t.match('The row. Of the caller', beginning)
  t.ok(isRefusedName('createTeller'))
  t.end()
})

t.test('no comment uses a refused word', (t) => {
  t.same(
    find((source) => commentsOf(source).filter((comment) => words.test(comment))),
    [],
  )
  t.end()
})

t.test('no sentence of a comment begins with a word such as "What" or "Whoever"', (t) => {
  t.same(
    find((source) => commentsOf(source).filter((comment) => beginning.test(comment))),
    [],
  )
  t.end()
})

t.test('no comment of a program in another language has a refused word or beginning', (t) => {
  const comments = scripts.flatMap((file) => scriptComments(file).map((comment) => `${file}: ${comment}`))
  t.ok(comments.length > 100)
  t.same(
    comments.filter((comment) => words.test(comment) || beginning.test(comment)),
    [],
  )
  t.end()
})

t.test('no test title uses a refused word', (t) => {
  t.same(
    find((source) => titlesOf(source).filter((title) => words.test(title))),
    [],
  )
  t.end()
})

t.test('no identifier and no file name contains a refused part', (t) => {
  t.same(
    find((source) => [...namesOf(source)].filter(isRefusedName)),
    [],
  )
  const names = files.filter((file) => !isMade(file)).filter((file) => file.split('/').some(isRefusedName))
  t.same(names, [])
  t.end()
})

t.test('no document uses a refused word', (t) => {
  const documents = files.filter((file) => /\.md$/.test(file) && file !== 'docs/glossary.md' && !isMade(file))
  const lines = documents.flatMap((file) =>
    read(file)
      .split('\n')
      .filter((line) => words.test(line))
      .map((line) => `${file}: ${line}`),
  )
  t.same(lines, [])
  t.end()
})

t.test('no description in specs/ uses a refused word, or begins with a word such as "What" or "Whoever"', (t) => {
  const texts = files.filter((file) => /^specs\/.*\.yaml$/.test(file)).flatMap((file) => textsOf(file))
  t.ok(texts.length > 500)
  t.same(
    texts.filter((text) => words.test(text) || beginning.test(text)),
    [],
  )
  t.end()
})

/** Returns the parts of a document that its readers see, and its comments. */
function textsOf(file: string): string[] {
  const texts = [...read(file).matchAll(/^ *# (.*)$/gm)].map(([, comment]) => comment as string)
  visit(parseDocument(read(file), { merge: true }), {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isScalar(value) || typeof value.value !== 'string') return
      if (['title', 'summary', 'description', 'message', 'hint'].includes(String(key.value))) texts.push(value.value)
    },
  })
  return texts.map((text) => text.replaceAll(/\s+/g, ' '))
}

function find(search: (source: (typeof sources)[number]) => string[]): string[] {
  return sources.flatMap((source) => search(source).map((text) => `${source.fileName}: ${text}`))
}
