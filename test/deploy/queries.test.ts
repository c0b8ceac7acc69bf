/**
 * promtool reads the alerts and the dashboard's queries with Prometheus' own parser. In Debian it is in the package
 * prometheus.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readPanels } from './board/queries.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skip = !hasPromtool && 'promtool is not installed (apt-get install prometheus)'
const alerts = path.resolve(import.meta.dirname, '../../deploy/prometheus/alerts.yaml')
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-queries-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('promtool accepts the alert rules', { skip }, (t) => {
  const { status, output } = check(alerts)
  t.equal(status, 0, output)
  t.match(output, /\d\d rules found/)
  t.end()
})

t.test('a used-up spending budget fires an alert, and a nearly used-up budget does not', { skip }, (t) => {
  const spent = fires('parley_budget_events_total{event="exhausted"}', 'ParleyBudgetSpent')
  t.equal(spent.status, 0, spent.output)
  const nearly = fires('parley_budget_events_total{event="warned"}', 'ParleyBudgetSpent')
  t.equal(nearly.status, 1, nearly.output)
  t.end()
})

t.test('promtool parses every query of the Grafana dashboard', { skip }, (t) => {
  const queries = readPanels('1m').flatMap((panel) => panel.queries.map(({ expr }) => expr))
  t.ok(queries.length > 25, `${queries.length} queries`)
  const { status, output } = check(ruleFile(queries))
  t.equal(status, 0, output)
  t.equal(check(ruleFile(['sum by (rate(x[5m])'])).status, 1, 'promtool would find a mistake')
  t.end()
})

type Rule = { alert: string; labels: object; annotations: object }

/**
 * Runs promtool to find out whether `alert` fires ten minutes after `series` has counted one event. Status 0: it fires,
 * 1: it does not.
 */
function fires(series: string, alert: string): { status: number | null; output: string } {
  const { groups } = parse(readFileSync(alerts, 'utf8')) as { groups: { rules: Rule[] }[] }
  const { labels, annotations } = groups.flatMap(({ rules }) => rules).find((rule) => rule.alert === alert) ?? {}
  const file = path.join(folder, 'alert-test.yaml')
  const test = {
    interval: '1m',
    input_series: [{ series, values: '0 0 1+0x20' }],
    alert_rule_test: [
      { eval_time: '12m', alertname: alert, exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }] },
    ],
  }
  writeFileSync(file, JSON.stringify({ rule_files: [alerts], evaluation_interval: '1m', tests: [test] }))
  return promtool('test', 'rules', file)
}

/** Writes a rule file, with each query as a recording rule's expression. It is JSON, which YAML includes. */
function ruleFile(queries: readonly string[]): string {
  const file = path.join(folder, 'rules.yaml')
  const rules = queries.map((expr, i) => ({ record: `board:query:${i}`, expr }))
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'board', rules }] }))
  return file
}

function check(file: string) {
  return promtool('check', 'rules', file)
}

function promtool(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}
