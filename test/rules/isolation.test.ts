/** Looks for the tests in the tables of docs/isolation.md and docs/attacks.md. */
import t from 'tap'
import { isNamedTest, isTestFile } from './named-tests.ts'
import { read } from './source.ts'

/** The first table in each section. The last column names tests, with `between` after each but the last. */
const tables = [
  { document: 'docs/isolation.md', section: '## The shares', count: 16, between: ', ' },
  { document: 'docs/attacks.md', section: '# Attacks that did not succeed', count: 36, between: '<br>' },
] as const
const file = /^`([a-z-]+\/[a-z0-9-]+)`$/

for (const { document, section, count, between } of tables)
  t.test(`every test named in the table of ${document} exists`, (t) => {
    const text = read(document).split(`${section}\n`)[1]?.split(/^## /m)[0] ?? ''
    const [, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'))
    t.equal(rows.length, count)
    for (const row of rows) {
      const names = row.split('|').at(-2)?.trim() ?? ''
      for (const name of names.split(between))
        t.ok(file.test(name) ? isTestFile(file.exec(name)?.[1] ?? '') : isNamedTest(name), name)
    }
    t.end()
  })
