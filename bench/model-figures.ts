/** Measures the unit costs, records them in bench/unit-costs.json and writes the tables in docs/costs.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { missingRedis } from '../test/redis/redis.ts'
import { callCosts } from './call-costs.ts'
import { type RecordedCosts, withTables } from './cost-page.ts'
import type { Figure } from './figure.ts'
import { demandOf, modelLoad } from './model.ts'
import { requestCosts } from './request-costs.ts'

const pageFile = fileURLToPath(new URL('../docs/costs.md', import.meta.url))
const recordFile = fileURLToPath(new URL('unit-costs.json', import.meta.url))

export async function modelFigures(): Promise<Figure[]> {
  const hasRedis = (await missingRedis()) === false
  const [load = 0] = os.loadavg()
  const costs = { ...(await requestCosts()), ...(await callCosts()) }
  const recorded: RecordedCosts = {
    measuredAt: new Date().toISOString().slice(0, 10),
    machine: `${os.availableParallelism()} cores, Node ${process.versions.node}, load ${load.toFixed(1)} before it began`,
    hasRedis,
    costs,
  }
  writeFileSync(recordFile, `${JSON.stringify(recorded, null, 2)}\n`)
  writeFileSync(pageFile, withTables(readFileSync(pageFile, 'utf8'), recorded))
  const { nodes, nodeCores, postgresCores } = demandOf(costs, modelLoad)
  const detail = `${nodeCores.toFixed(1)} cores, and ${postgresCores.toFixed(1)} of Postgres; the tables are in docs/costs.md`
  return [{ name: 'nodes of the model', value: nodes, unit: 'nodes', bar: null, detail }]
}
