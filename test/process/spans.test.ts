/** Tests `make spans`, which receives a request's spans and prints them as a tree. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import t from 'tap'
import { testKey } from '../installation.ts'
import { answer, pinned } from '../platform/setup.ts'
import { freePort, until } from './machine.ts'
import { startParley } from './parley.ts'

t.test('the trace of a request is printed as a tree', async (t) => {
  const port = await freePort()
  const file = path.join(import.meta.dirname, 'spans.ts')
  const env = { ...process.env, PORT: String(port), QUIET_MS: '500' }
  const sink = spawn(process.execPath, ['--import=tsx', file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => sink.kill())
  let printed = ''
  sink.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await until('the sink', () => printed.includes(`http://127.0.0.1:${port}`))

  const parley = await startParley({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  })
  t.teardown(() => parley.remove())
  await answer({ url: parley.url, key: testKey }, pinned('local/scripted'))
  // If a span comes later than the quiet time, the tree is printed again.
  const tree =
    /^trace [0-9a-f]{32}\nPOST \S+ {2}[\d.]+ ms {2}status_code=200\n {2}chat \S+ {2}[\d.]+ ms {2}.*output_tokens=.*outcome=succeeded/m
  await until('the tree', () => tree.test(printed))
})
