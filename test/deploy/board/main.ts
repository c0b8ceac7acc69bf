/**
 * `make board`: draws deploy/grafana/parley.json with data from a real load for a few minutes, and writes
 * docs/board.png. A real Prometheus scrapes the server and answers the board's queries. Debian has no package for
 * Grafana, so this code draws the board.
 */
import '../../no-time-limit.ts'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startAdministeredProgram } from '../../process/administered.ts'

import { freePort } from '../../process/machine.ts'
import { startStubOpenAi } from '../../providers/stub-openai.ts'
import { BoardLoad, providersOf } from './load.ts'
import { type Drawn, drawPage, pageSizeOf } from './page.ts'
import { startPrometheus } from './prometheus-server.ts'
import { type Query, readPanels } from './queries.ts'

const loadS = Number(process.env['PARLEY_TEST_LOAD_S'] ?? 180)
/** The interval is four scrapes, as Grafana would choose, which is enough for a smooth line. */
const interval = '15s'
const target = path.resolve(import.meta.dirname, '../../../docs/board.png')
const missing = ['prometheus', 'chromium'].filter((name) => spawnSync(name, ['--version']).error !== undefined)

t.setTimeout(0)
t.test(
  'every panel of the Grafana dashboard shows data after a load test',
  { skip: missing.length > 0 && `there is no ${missing.join(' and no ')}` },
  async (t) => {
    const stub = await startStubOpenAi()
    t.teardown(() => stub.close())
    const adminPort = await freePort()
    const { parley, admin } = await startAdministeredProgram(t, {
      PARLEY_ADMIN_PORT: String(adminPort),
      PARLEY_PROVIDERS: providersOf(stub.url),
      PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
    })
    const prometheus = await startPrometheus(adminPort)
    t.teardown(() => prometheus.stop())
    const load = await BoardLoad.start(parley, admin)
    await sleep(loadS * 1000)
    const toS = Math.floor(Date.now() / 1000)
    const fromS = toS - loadS

    const drawn: Drawn[] = []
    for (const panel of readPanels(interval)) {
      const lines = await Promise.all(panel.queries.map((query) => linesOf(query)))
      drawn.push({ panel, lines: lines.flat() })
    }
    await load.stop()
    const empty = drawn.filter(({ panel, lines }) => panel.kind !== 'row' && lines.length === 0)
    t.comment(`panels without data: ${empty.map(({ panel }) => panel.title).join(', ') || 'none'}`)
    t.ok(empty.length < drawn.length / 3, 'most panels have data')
    const page = drawPage(drawn, fromS, toS, 'the queries of deploy/grafana/parley.json, drawn by test/deploy/board')
    screenshot(page, pageSizeOf(drawn))
    t.comment(`${load.requests} requests in ${loadS} s; ${target}`)

    async function linesOf({ expr, legend }: Query): Promise<Drawn['lines']> {
      const series = await prometheus.range(expr, fromS, toS, 2)
      const name = (labels: Record<string, string>) =>
        legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '')
      return series.map(({ labels, points }) => ({ name: name(labels), points }))
    }
  },
)

function screenshot(page: string, { width, height }: { width: number; height: number }): void {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-board-'))
  const file = path.join(folder, 'board.html')
  writeFileSync(file, page)
  const size = `--window-size=${width},${height}`
  const quiet = ['--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
  const flags = ['--headless', '--hide-scrollbars', '--disable-gpu', `--user-data-dir=${folder}/profile`, ...quiet]
  // Chromium does not start as root with a sandbox.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const { status, stderr } = spawnSync('chromium', [
    ...flags,
    ...sandbox,
    size,
    `--screenshot=${target}`,
    `file://${file}`,
  ])
  rmSync(folder, { recursive: true, force: true })
  if (status !== 0) throw new Error(`chromium ended with ${status}: ${stderr.toString()}`)
}
