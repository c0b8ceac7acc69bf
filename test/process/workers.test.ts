/** Tests how the first process starts worker processes. */
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { startWorkers } from '../../runtime/process/workers.ts'
import { until } from './machine.ts'

t.test('if a worker process cannot be started, the start is retried, and the first process serves on', async (t) => {
  const program = path.join(t.testdir(), 'worker.mjs')
  writeFileSync(program, "process.on('message', () => process.exit(0))\n")
  const { execPath, argv } = process
  const shared: ChildProcess[] = []
  const failures: unknown[] = []
  t.teardown(() => Object.assign(process, { execPath, argv }))
  Object.assign(process, { execPath: path.join(t.testdirName, 'no-node'), argv: [execPath, program] })
  const workers = startWorkers(1, {
    env: {},
    graceMs: 1000,
    share: (child) => void shared.push(child),
    failed: (error) => void failures.push(error),
  })
  await until('it has failed twice', () => failures.length === 2)
  t.match(failures, [{ code: 'ENOENT' }, { code: 'ENOENT' }])
  Object.assign(process, { execPath })
  await until('it runs', () => shared.at(-1)?.pid !== undefined)
  await workers.stop(0)
  t.equal(shared.at(-1)?.exitCode, 0)
  t.equal(failures.length, 2)
})
