/** Checks that the tests in the tables of docs/isolation.md exist. */
import t from 'tap'
import { isNamedTest, isTestFile } from './named-tests.ts'
import { read } from './source.ts'

/** The tables whose last column names tests, with their number of rows. */
const tables = { 'The shares': 13, 'Attacks that did not succeed': 36 }
const file = /^`([a-z-]+\/[a-z0-9-]+)`$/

const sections = new Map(
  read('docs/isolation.md')
    .split(/^## /m)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
)

for (const [title, count] of Object.entries(tables))
  t.test(`each test that docs/isolation.md names exists: ${title}`, (t) => {
    const [, , ...rows] = (sections.get(title) ?? '').split('\n').filter((line) => line.startsWith('|'))
    t.equal(rows.length, count)
    for (const row of rows) {
      const names = row.split('|').at(-2)?.trim() ?? ''
      for (const name of names.split(title === 'The shares' ? ', ' : '<br>'))
        t.ok(file.test(name) ? isTestFile(file.exec(name)?.[1] ?? '') : isNamedTest(name), name)
    }
    t.end()
  })
