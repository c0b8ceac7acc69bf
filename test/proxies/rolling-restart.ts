/**
 * Restarts two servers on one database in turn. All sockets and streams are open at the first server when it gets
 * SIGTERM. The second accepts new ones. Then the first is back, and the second drains.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { freshDataDir } from '../installation.ts'
import { freePort } from '../process/machine.ts'
import { type Running, startParley } from '../process/parley.ts'
import { type StubOpenAi, startStubOpenAi } from '../providers/stub-openai.ts'
import { type Client, start, type Target } from '../realtime/socket.ts'
import { TestCluster } from '../store/cluster.ts'
import { chat, frame, hello, Load, loopbackStt, postJson, stt } from './load.ts'
import { sendWords } from './paced.ts'
import { type ProxyName, startProxy } from './proxy.ts'

/** The default of the setting drain.lbDelayMs. The configurations in deploy/proxies are made for this default. */
const lbDelayMs = 5000
const graceMs = 6000
/** The proxy uses a restarted server again within this time: nginx after 2 s, and Caddy asks /readyz every second. */
const noticedMs = 3000
const counts = { ending: 80, staying: 20, endingStreams: 160, stayingStreams: 40 }

export async function rollingRestart(t: Test, name: ProxyName): Promise<void> {
  const stub = await startStubOpenAi()
  const cluster = await TestCluster.start()
  const databaseUrl = await cluster.database('empty')
  const [first, second] = [await serverOn(stub, databaseUrl), await serverOn(stub, databaseUrl)]
  const a = await first.start()
  const proxy = await startProxy(name, [first.url, second.url])
  t.teardown(async () => {
    await Promise.all([proxy.stop(), first.remove(), second.remove(), stub.close()])
    await cluster.stop()
  })
  const target = { url: proxy.url, key: a.key }
  const open = await openAll(target, stub)
  const b = await second.start()
  await sleep(noticedMs)
  const load = new Load(target)
  await sleep(500)

  const exited = a.stop()
  const drainedMs = performance.now()
  const ends = open.end(drainedMs)
  await sleep(lbDelayMs - 1000)
  t.equal((await fetch(`${a.url}/readyz`)).status, 503, '/readyz says that the server drains')
  t.equal((await postJson(a, chat, hello)).status, 200, 'the server still serves')
  checkEnds(t, await ends)
  t.equal(await exited, 0)
  const tookMs = performance.now() - drainedMs
  const isGrace = tookMs >= lbDelayMs + graceMs && tookMs < lbDelayMs + graceMs + 4000
  t.ok(isGrace, `the drain took ${Math.round(tookMs)} ms`)

  await first.start()
  await sleep(noticedMs)
  t.equal(await b.stop(), 0)
  await sleep(500)
  const { requests, sockets, failures } = await load.stop()
  t.comment(`${requests} requests and ${sockets} sockets during two restarts, ${failures.length} failed`)
  t.same(failures, [], { seenByProxy: failures.length > 0 ? proxy.failures().slice(-20) : [] })
  t.ok(requests > 1000 && sockets > 50, `${requests} requests, ${sockets} sockets`)
}

type Server = { url: string; start(): Promise<Running>; remove(): Promise<void> }

/** Starts a server that can restart on its port and data folder. */
async function serverOn(stub: StubOpenAi, databaseUrl: string): Promise<Server> {
  const port = await freePort()
  const dataDir = freshDataDir()
  let running: Running | null = null
  const env = {
    DATABASE_URL: databaseUrl,
    PARLEY_MASTER_KEY: 'm'.repeat(32),
    PARLEY_PORT: String(port),
    PARLEY_DRAIN_LB_DELAY_MS: '',
    PARLEY_DRAIN_GRACE_MS: String(graceMs),
    PARLEY_PROVIDERS: JSON.stringify([
      { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['mock'] } },
      { id: 'loopback', adapter: 'loopback' },
    ]),
  }
  return {
    url: `http://127.0.0.1:${port}`,
    start: async () => (running = await startParley(env, dataDir)),
    remove: async () => {
      running?.child.kill('SIGKILL')
      await running?.remove()
    },
  }
}

type End = { atMs: number; last: string; code: number }
type Ends = { ending: End[]; staying: End[]; streams: End[] }

/** Opens sockets and streams. Some end by themselves after the drain has begun, and the others stay open. */
async function openAll(target: Target, stub: StubOpenAi): Promise<{ end(drainedMs: number): Promise<Ends> }> {
  const ending = await many(counts.ending, () => start(target, stt, loopbackStt))
  const staying = await many(counts.staying, () => start(target, stt, loopbackStt))
  const speaking = setInterval(() => {
    for (const { socket } of [...ending, ...staying]) if (socket.readyState === socket.OPEN) socket.send(frame)
  }, 500)
  let isEnding = false
  for (let i = 0; i < counts.endingStreams + counts.stayingStreams; i++) {
    const next = () => (isEnding && i < counts.endingStreams ? null : 'word ')
    stub.behave({ kind: 'custom', answer: (_request, response) => void sendWords(response, 500, next) })
  }
  const messages = [{ role: 'user', content: 'count' }]
  const answers = await many(counts.endingStreams + counts.stayingStreams, () =>
    postJson(target, chat, { model: 'mock:mock', stream: true, messages }),
  )
  const texts = answers.map((answer) => answer.text())
  return {
    async end(drainedMs) {
      const streams = texts.map(async (text): Promise<End> => {
        const last = (await text).trimEnd().split('\n').at(-1) ?? ''
        return { atMs: performance.now() - drainedMs, last, code: 0 }
      })
      const stays = Promise.all(staying.map((client) => endOf(client, drainedMs)))
      // These sockets and streams end after the port has closed, and within the grace period.
      const ends = ending.map(async (client, i): Promise<End> => {
        await sleep(((i + 1) / ending.length) * (lbDelayMs + graceMs - 2000))
        client.send({ type: 'end' })
        return endOf(client, drainedMs)
      })
      await sleep(lbDelayMs + 1000)
      isEnding = true
      const all = { ending: await Promise.all(ends), staying: await stays, streams: await Promise.all(streams) }
      clearInterval(speaking)
      return all
    },
  }
}

async function endOf(client: Client, drainedMs: number): Promise<End> {
  const code = await client.closed
  return { atMs: performance.now() - drainedMs, last: JSON.stringify(client.received.at(-1)?.frame), code }
}

function checkEnds(t: Test, { ending, staying, streams }: Ends): void {
  const whole = ending.filter(({ last, code }) => code === 1000 && last.includes('"type":"end"'))
  t.equal(whole.length, counts.ending, 'sockets that end within the grace end well')
  const dismissed = staying.filter(({ last, code }) => code === 1012 && last.includes('SHUTTING_DOWN'))
  t.equal(dismissed.length, counts.staying, 'the others get SHUTTING_DOWN')
  const done = streams.filter(({ last }) => last === 'data: [DONE]')
  t.equal(done.length, counts.endingStreams, 'streams that end within the grace end well')
  const faults = streams.filter(({ last }) => last.includes('"code":"service_unavailable"'))
  t.equal(faults.length, counts.stayingStreams, 'the others get the fault')
  const firstMs = Math.min(...[...dismissed, ...faults].map(({ atMs }) => atMs))
  t.ok(firstMs >= lbDelayMs + graceMs, `none is cut before the grace is over: the first at ${Math.round(firstMs)} ms`)
}

/** Opens `count` connections, twenty at a time. */
async function many<T>(count: number, open: () => Promise<T>): Promise<T[]> {
  const all: T[] = []
  while (all.length < count) {
    const some = Math.min(20, count - all.length)
    all.push(...(await Promise.all(Array.from({ length: some }, open))))
  }
  return all
}
