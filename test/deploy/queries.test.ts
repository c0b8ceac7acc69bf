/** Prometheus itself reads the alerts and the queries of the board. Debian has promtool in its package prometheus. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { readPanels } from './board/queries.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skip = !hasPromtool && 'promtool is not installed (apt-get install prometheus)'
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-queries-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('promtool accepts the alerts', { skip }, (t) => {
  const { status, output } = check(path.resolve(import.meta.dirname, '../../deploy/prometheus/alerts.yaml'))
  t.equal(status, 0, output)
  t.match(output, /\d\d rules found/)
  t.end()
})

t.test('promtool parses every query of the board', { skip }, (t) => {
  const queries = readPanels('1m').flatMap((panel) => panel.queries.map(({ expr }) => expr))
  t.ok(queries.length > 25, `${queries.length} queries`)
  const { status, output } = check(ruleFile(queries))
  t.equal(status, 0, output)
  t.equal(check(ruleFile(['sum by (rate(x[5m])'])).status, 1, 'it would find a mistake')
  t.end()
})

/** JSON is YAML. Each query is the expression of a recording rule. */
function ruleFile(queries: readonly string[]): string {
  const file = path.join(folder, 'rules.yaml')
  const rules = queries.map((expr, i) => ({ record: `board:query:${i}`, expr }))
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }))
  return file
}

function check(file: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}
