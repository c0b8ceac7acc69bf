/** Checks that the contracts are YAML that parsers in other languages can read. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const specs = path.resolve(import.meta.dirname, '../../specs')
const documents = readdirSync(specs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'))

/** If unquoted text in braces ends with a question mark, PyYAML takes the question mark for the start of a key. */
const bareQuestion = /[{,][^{}]*\?\s*[,}\]]/

const withoutQuoted = (line: string) => line.replace(/'(?:[^']|'')*'|"(?:[^"\\]|\\.)*"/g, "''")

t.test('in a specification a text in braces that ends in a question mark is quoted', (t) => {
  t.ok(bareQuestion.test('{ type: text, text: how are you?, flush: true }'))
  t.notOk(bareQuestion.test(withoutQuoted("{ type: text, text: 'how are you?', flush: true }")))
  for (const name of documents)
    for (const [at, line] of readFileSync(path.join(specs, name), 'utf8').split('\n').entries())
      if (bareQuestion.test(withoutQuoted(line))) t.fail(`specs/${name}:${at + 1} ${line.trim()}`)
  t.ok(documents.length > 10)
  t.end()
})
