/** docs/requirements.md names the tests that hold the rows of the requirements: they exist, and no row is forgotten. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { read, root } from './source.ts'

const rowsOf = { Router: 133, Platform: 345 }
const sections = read('docs/requirements.md').split(/^## /m).slice(1)
const linesOf = (section: string) => section.split('\n').filter((line) => /^\|.*`test\//.test(line))

t.test('the rows of each document add up', (t) => {
  const sums = sections.map((section) => {
    const numbers = linesOf(section).map((line) => Number(line.split('|')[2]))
    return [section.split('\n')[0], numbers.reduce((sum, each) => sum + each, 0)]
  })
  t.same(Object.fromEntries(sums), rowsOf)
  t.end()
})

t.test('each test that a row names exists', (t) => {
  for (const line of sections.flatMap(linesOf)) {
    const tests = (line.split('|')[4] ?? '').trim().split('<br>')
    for (const each of tests) {
      const [, file = '', title = ''] = /^`(test\/\S+)`: (.+)$/.exec(each) ?? []
      t.ok(existsSync(path.join(root, file)) && read(file).includes(title), each)
    }
  }
  t.end()
})
