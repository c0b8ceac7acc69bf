/** Debian's Prometheus in a temporary folder. It scrapes one server every second. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort, until } from '../../process/machine.ts'

export type Series = { labels: Record<string, string>; points: { atS: number; value: number }[] }
export type Prometheus = {
  /** Runs a range query from one time to another, in Unix seconds. */
  range(expr: string, fromS: number, toS: number, stepS: number): Promise<Series[]>
  stop(): void
}

export async function startPrometheus(adminPort: number): Promise<Prometheus> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-prometheus-'))
  const port = await freePort()
  const scrape = { job_name: 'parley', static_configs: [{ targets: [`127.0.0.1:${adminPort}`] }] }
  const config = { global: { scrape_interval: '1s' }, scrape_configs: [scrape] }
  // YAML includes JSON, so the configuration can be written as JSON.
  writeFileSync(path.join(folder, 'prometheus.yml'), JSON.stringify(config))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const url = `http://127.0.0.1:${port}`
  await until('Prometheus serves', async () => (await fetch(`${url}/-/ready`).catch(() => null))?.status === 200)
  return {
    range: (expr, fromS, toS, stepS) => readRange(url, { query: expr, start: fromS, end: toS, step: stepS }),
    stop() {
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }))
      child.kill()
    },
  }
}

type Answer = { data: { result: { metric: Record<string, string>; values: [number, string][] }[] } }

async function readRange(url: string, wanted: Record<string, string | number>): Promise<Series[]> {
  const texts = Object.entries(wanted).map(([name, value]): [string, string] => [name, String(value)])
  const answer = await fetch(`${url}/api/v1/query_range?${new URLSearchParams(texts).toString()}`)
  if (answer.status !== 200) throw new Error(`${wanted['query']}: ${await answer.text()}`)
  const { data } = (await answer.json()) as Answer
  return data.result.map(({ metric, values }) => ({
    labels: metric,
    points: values.map(([atS, value]) => ({ atS, value: Number(value) })),
  }))
}
