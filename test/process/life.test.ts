/**
 * Tests how a server process starts and ends: a second start, Ctrl-C, a crash, a drain, several processes, a killed
 * Postgres.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { freshDataDir } from '../installation.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses, send, speech, transcribe } from '../router/requests.ts'
import { readFixture } from '../speech/fixtures.ts'
import { runParley } from './command.ts'
import { openDatabase, postgresPid, socketDir } from './database.ts'
import { descendants, freePort, freePortPair, isRunning, until } from './machine.ts'
import { bothServe } from './metrics.ts'
import { askAtOnce } from './one-at-a-time.ts'
import { type Running, startParley } from './parley.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const providers = JSON.stringify([
  { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } },
])
const pinned = { routing: { mode: 'explicit', model: 'mock/mock' } }
const askMock = (target: Running, more: object = {}, headers?: Record<string, string>): Promise<Answer> =>
  postJson(target, responses, ask('hello', { ...pinned, ...more }), headers)

async function started(t: Test, env: Record<string, string> = {}, dataDir?: string): Promise<Running> {
  const parley = await startParley({ PARLEY_PROVIDERS: providers, ...env }, dataDir)
  t.teardown(() => parley.remove())
  return parley
}

t.test('a second start on the same port is refused, and the first server goes on', async (t) => {
  const parley = await started(t)
  const { port } = new URL(parley.url)
  const elsewhere = freshDataDir()
  t.teardown(() => rmSync(elsewhere, { recursive: true, force: true }))
  for (const dataDir of [parley.dataDir, elsewhere]) {
    const { code, stderr, stdout } = await runParley(['up'], { dataDir, env: { PARLEY_PORT: port } })
    t.equal(code, 1)
    t.equal(
      stderr,
      `parley: PARLEY_PORT: 127.0.0.1:${port} is taken, perhaps by another Parley; end what listens there, or set PARLEY_PORT\n`,
    )
    t.equal(stdout, '')
  }
  t.same(readdirSync(elsewhere), [], 'the second start has made nothing')
  const metrics = { PARLEY_PORT: '0', PARLEY_ADMIN_PORT: port }
  const { stderr } = await runParley(['up'], { dataDir: elsewhere, env: metrics })
  t.match(
    stderr,
    `parley: PARLEY_ADMIN_PORT: 127.0.0.1:${port} is taken, perhaps by another Parley; end what listens there, or set PARLEY_ADMIN_PORT\n`,
  )
  t.equal((await askMock(parley)).status, 200)
})

t.test('`make run` starts a server, and Ctrl-C leaves no process behind', async (t) => {
  const port = await freePort()
  const dataDir = freshDataDir()
  const url = `http://127.0.0.1:${port}`
  // The test starts a separate process group and signals every process in it, as a terminal does.
  const make = spawn('make', ['--old-file=dist/main.js', 'run'], {
    cwd: path.resolve(import.meta.dirname, '../..'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], PARLEY_PORT: String(port), PARLEY_DATA_DIR: dataDir },
    stdio: 'ignore',
    detached: true,
  })
  const ended = new Promise((resolve) => make.once('exit', resolve))
  t.teardown(() => {
    if (make.exitCode === null && make.signalCode === null) process.kill(-(make.pid as number), 'SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  })
  await until('it is ready', () => existsSync(path.join(dataDir, 'parley.pid')), 30_000)
  const target = { url, key: readFileSync(path.join(dataDir, 'local.key'), 'utf8').trim() }
  await Promise.all([transcribe(target, readFixture('privacy-prompt')), postJson(target, speech, { input: 'Hello.' })])
  const group = descendants(make.pid as number)
  const postgres = postgresPid(dataDir) as number
  const socket = socketDir(dataDir)
  t.ok(isRunning(postgres) && existsSync(socket))
  t.ok(group.includes(postgres) && group.length > 4, `${group.length} processes`)
  process.kill(-(make.pid as number), 'SIGINT')
  await ended
  await until('all have ended', () => [...group, postgres].every((pid) => !isRunning(pid)))
  t.notOk(existsSync(socket), 'no socket')
  t.notOk(existsSync(path.join(dataDir, 'parley.pid')))
  t.equal(postgresPid(dataDir), null)
})

t.test('after kill -9 and a restart all acknowledged data is still stored', async (t) => {
  const parley = await started(t)
  const organization = /org_\w+/.exec((await runParley(['org', 'list'], parley)).stdout)?.[0] ?? ''
  const made = await runParley(['keys', 'create', '--org', organization], parley)
  const own = { ...parley, key: made.stdout.trim() }
  const key = { 'idempotency-key': randomUUID() }
  const answers = [await askMock(own, {}, key), ...(await Promise.all(Array.from({ length: 20 }, () => askMock(own))))]
  t.ok(answers.every(({ status }) => status === 200))
  const ids = answers.map(({ headers }) => headers.get('service-request-id') as string)
  const sql = openDatabase(parley.dataDir)
  const outcomes = async () =>
    (await sql`select outcome from requests where request_id in ${sql(ids)}`).map((row) => row['outcome'] as string)
  // The ledger is written after the answer, in batches.
  await until('the ledger is written', async () => (await outcomes()).length === ids.length)
  const postgres = postgresPid(parley.dataDir)
  await parley.kill()
  t.ok(isRunning(postgres as number), 'Postgres goes on')
  const again = await started(t, {}, parley.dataDir)
  t.equal(postgresPid(parley.dataDir), postgres, 'Postgres is adopted')
  t.match(again.output(), /already running/)
  const after = { ...again, key: own.key }
  t.equal((await send(after, '/router/v1/models')).status, 200, 'the key works')
  const late = await askMock(after, {}, key)
  t.equal(late.json().error.original_request_id, answers[0]?.headers.get('service-request-id'))
  t.same(
    await outcomes(),
    ids.map(() => 'succeeded'),
    'the ledger is whole',
  )
  await sql.end()
})

t.test('if Postgres is killed, the server starts it again and goes on serving', async (t) => {
  const parley = await started(t)
  t.equal((await askMock(parley)).status, 200)
  const postgres = postgresPid(parley.dataDir) as number
  process.kill(postgres, 'SIGKILL')
  const during = await askMock(parley)
  t.ok([200, 503].includes(during.status), `${during.status}`)
  if (during.status === 503) t.equal(during.json().error.code, 'service_unavailable')
  await until('it is served again', async () => (await askMock(parley)).status === 200, 15_000)
  t.not(postgresPid(parley.dataDir), postgres)
  await until('and says so', async () => (await fetch(`${parley.url}/readyz`)).status === 200)
})

t.test('two processes on one port share their limits, and a killed process is replaced', async (t) => {
  const [port, adminPort] = [String(await freePort()), await freePortPair()]
  const two = { PARLEY_PROCESSES: '2', PARLEY_PORT: port }
  const parley = await started(t, { ...two, PARLEY_ADMIN_PORT: String(adminPort) })
  const workers = () => descendants(parley.pid, 'main.js')
  await until('both serve', () => bothServe(parley, adminPort), 30_000)

  await t.test('a second start on the port of two processes is refused', async (t) => {
    const { code, stderr } = await runParley(['up'], { dataDir: parley.dataDir, env: two })
    t.equal(code, 1)
    t.match(stderr, `127.0.0.1:${port} is taken`)
    const any = await runParley(['up'], { dataDir: parley.dataDir, env: { ...two, PARLEY_PORT: '0' } })
    t.equal(any.code, 1)
    t.match(any.stderr, 'PARLEY_PORT: 0 ')
  })

  await t.test('200 copies of a request with one idempotency key cause one provider request', async (t) => {
    stub.behave({ kind: 'slow', delayMs: 500 })
    const asked = stub.requests.length
    const key = { 'idempotency-key': randomUUID(), connection: 'close' }
    const answers = await Promise.all(Array.from({ length: 200 }, () => askMock(parley, {}, key)))
    t.equal(stub.requests.length, asked + 1)
    const statuses = answers.map(({ status }) => status)
    t.equal(statuses.filter((status) => status === 200).length, 1)
    t.ok(
      statuses.every((status) => [200, 409, 429].includes(status)),
      [...new Set(statuses)].join(' '),
    )
  })

  await t.test('a killed worker is replaced', async (t) => {
    const [worker] = workers() as [number]
    process.kill(worker, 'SIGKILL')
    // The process id disappears once the last thread has ended. The port is released before that.
    await until('it has ended', () => !existsSync(`/proc/${worker}`))
    for (let i = 0; i < 20; i++) t.equal((await askMock(parley, {}, { connection: 'close' })).status, 200)
    await until('there is another', () => workers().length === 1 && workers()[0] !== worker)
    await until('which serves', () => bothServe(parley, adminPort))
  })

  await t.test('a concurrency limit of 1 holds across both processes', async (t) => {
    const organization = /org_\w+/.exec((await runParley(['org', 'list'], parley)).stdout)?.[0] ?? ''
    const args = ['keys', 'create', '--org', organization, '--policy', '{"max_concurrency":1}']
    const limited = { ...parley, key: (await runParley(args, parley)).stdout.trim() }
    const asked = stub.requests.length
    const answers = await askAtOnce(stub, 16, () => askMock(limited, {}, { connection: 'close' }))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(stub.requests.length, asked + 1)
    t.ok(answers.every(({ status, json }) => status === 200 || json().error.code === 'concurrency_exhausted'))
  })

  await t.test('both processes on one port end when the server is stopped', async (t) => {
    const all = [...descendants(parley.pid), postgresPid(parley.dataDir) as number]
    t.equal(await parley.stop(), 0)
    await until('all have ended', () => all.every((pid) => !isRunning(pid)))
  })
})

t.test('kill -9 of the first of two processes also ends the second process', async (t) => {
  const two = { PARLEY_PROCESSES: '2', PARLEY_PORT: String(await freePort()) }
  const parley = await started(t, two)
  await until('the worker is up', () => descendants(parley.pid, 'main.js').length === 1)
  const [worker] = descendants(parley.pid, 'main.js') as [number]
  await parley.kill()
  await until('the worker has ended', () => !isRunning(worker)).catch((error: unknown) => {
    process.kill(worker, 'SIGKILL')
    throw error
  })
  const again = await started(t, two, parley.dataDir)
  t.equal((await askMock(again)).status, 200)
})
