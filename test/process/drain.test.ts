/** Tests SIGTERM and Ctrl-C: open requests may finish, but a second signal ends the process at once. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, ask, type Envelope, postJson, readEvents, responses } from '../router/requests.ts'
import { postgresPid } from './database.ts'
import { descendants, freePort, freePortPair, isRunning, until } from './machine.ts'
import { bothServe } from './metrics.ts'
import { type Running, startParley } from './parley.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const providers = JSON.stringify([
  { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } },
])
const pinned = { routing: { mode: 'explicit', model: 'mock/mock' } }
const askMock = (target: Running, more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  postJson(target, responses, ask('hello', { ...pinned, ...more }), headers)

async function started(t: Test, env: Record<string, string>): Promise<Running> {
  const parley = await startParley({ PARLEY_PROVIDERS: providers, ...env })
  t.teardown(() => parley.remove())
  return parley
}

t.test('after SIGTERM requests are served until the load balancer notices, and open requests finish', async (t) => {
  const parley = await started(t, { PARLEY_DRAIN_LB_DELAY_MS: '4000' })
  stub.behave({ kind: 'slow', delayMs: 5000 })
  const asked = stub.requests.length
  const stream = askMock(parley, { stream: true })
  await until('it is under way', () => stub.requests.length > asked)
  const ended = parley.stop()
  await until('it drains', async () => (await fetch(`${parley.url}/readyz`)).status === 503)
  for (let served = 0; served < 4; served++) {
    const answer = await askMock(parley)
    t.equal(answer.status, 200)
    if (served === 0) t.equal(answer.headers.get('connection'), 'close', 'the next request may go to another server')
  }
  await until('no new connection is taken', () =>
    fetch(`${parley.url}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  const events = readEvents((await stream).text)
  t.equal(events.at(-1)?.event, 'response.completed')
  t.equal(await ended, 0)
})

t.test('a stream that does not finish within the grace period ends with an error event', async (t) => {
  const parley = await started(t, { PARLEY_DRAIN_GRACE_MS: '300' })
  stub.behave({
    kind: 'custom',
    answer: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hello ' } }] })}\n\n`)
    },
  })
  const answer = await fetch(parley.url + responses, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${parley.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(ask('hello', { ...pinned, stream: true })),
  })
  const [text, code] = await Promise.all([answer.text(), parley.stop()])
  const last = readEvents(text).at(-1)
  t.equal(last?.event, 'error')
  t.equal((last?.data as Envelope).error.code, 'service_unavailable')
  t.equal(code, 0)
})

for (const signals of [
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGTERM', 'SIGINT'],
] as const)
  t.test(`${signals.join(' and ')} end the process at once`, async (t) => {
    const parley = await started(t, { PARLEY_DRAIN_GRACE_MS: '60000', PARLEY_DRAIN_LB_DELAY_MS: '60000' })
    stub.behave({ kind: 'hang' })
    const asked = stub.requests.length
    const hanging = askMock(parley).catch(() => null)
    await until('it is under way', () => stub.requests.length > asked)
    const postgres = postgresPid(parley.dataDir) as number
    const startedMs = performance.now()
    process.kill(parley.pid, signals[0])
    await sleep(200)
    process.kill(parley.pid, signals[1])
    t.equal(await parley.ended, 0)
    t.ok(performance.now() - startedMs < 10_000)
    await hanging
    await until('Postgres has ended', () => !isRunning(postgres))
  })

t.test('if both processes of a process group get SIGTERM, open requests still finish', async (t) => {
  const [port, adminPort] = [await freePort(), await freePortPair()]
  const two = { PARLEY_PROCESSES: '2', PARLEY_PORT: String(port), PARLEY_ADMIN_PORT: String(adminPort) }
  const parley = await started(t, { ...two, PARLEY_DRAIN_LB_DELAY_MS: '500' })
  await until('both serve', () => bothServe(parley, adminPort), 30_000)
  for (let i = 0; i < 16; i++) stub.behave({ kind: 'slow', delayMs: 2000 })
  const asked = stub.requests.length
  const shots = Array.from({ length: 16 }, () => askMock(parley, {}, { connection: 'close' }))
  await until('they are under way', () => stub.requests.length === asked + 16)
  // The test signals every process in the group, as a terminal and a service manager do.
  for (const pid of [...descendants(parley.pid, 'main.js'), parley.pid]) process.kill(pid, 'SIGTERM')
  t.same(
    (await Promise.all(shots)).map(({ status }) => status),
    Array.from({ length: 16 }, () => 200),
  )
  t.equal(await parley.ended, 0)
})
