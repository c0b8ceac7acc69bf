/** Checks that docs/odd-input.md has a row for each kind of input, and that the tests in its rows exist. */
import t from 'tap'
import { isNamedTest } from './named-tests.ts'
import { read } from './source.ts'

/** The number of rows in each section. */
const counts = { 'Language models': 6, 'Audio files': 4, 'SIP and RTP': 11, Speech: 8 }

const sections = read('docs/odd-input.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [, title = '', said] = /^(.*) \((\d+)\)\n/.exec(text) ?? []
    const [, , ...lines] = text.split('\n').filter((line) => line.startsWith('|'))
    return { title, said: Number(said), rows: lines.map((line) => line.split(/ ?\| ?/).slice(1, -1)) }
  })

t.test('each section of docs/odd-input.md has the expected number of rows, and states this number', (t) => {
  t.same(Object.fromEntries(sections.map(({ title, rows }) => [title, rows.length])), counts)
  for (const { title, said, rows } of sections) t.equal(said, rows.length, title)
  t.end()
})

t.test('each row of docs/odd-input.md says what arrives and what Parley does, and its tests exist', (t) => {
  const rows = sections.flatMap(({ rows }) => rows)
  for (const [input = '', behaviour = '', tests = '', ...more] of rows) {
    t.same(more, [], input)
    t.ok(input !== '' && behaviour !== '', input)
    for (const name of tests.split('<br>')) t.ok(isNamedTest(name), name)
  }
  t.notOk(isNamedTest('`trunk/far-ends`: a title that no test has'))
  const inputs = rows.map(([input]) => input)
  t.same([...new Set(inputs)], inputs, 'no row twice')
  t.end()
})
