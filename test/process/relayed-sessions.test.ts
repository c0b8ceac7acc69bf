/**
 * If a session's client reconnects to another process on the machine, that process relays the socket to the session's
 * owner, and the session goes on.
 */
import t from 'tap'
import { WebSocket } from 'ws'
import { likenessOf, likenessOfPieces } from '../audio/likeness.ts'
import { voicesOf } from '../session/recorded-call.ts'
import { call, Page, rateHz, type Started, startSession } from '../session/voice-session.ts'
import { speechAt } from '../speech/samples.ts'
import { TestCluster } from '../store/cluster.ts'
import { until } from './machine.ts'
import { pair } from './pair.ts'
import type { Running } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const through = (started: Started, { url }: Running): Started => {
  return { ...started, transportUrl: started.transportUrl.replace(/^ws:\/\/[^/]+/, url.replace('http', 'ws')) }
}

t.test('a client that reconnects to the other process is relayed to its session', async (t) => {
  const [owner, other] = await pair(t, cluster)
  // The recorded voice contains no question, so the agent speaks only after typed messages.
  const quiet = { turnHandling: { endpointing: { minDelay: 5000, maxDelay: 15_000 }, interruption: { mode: 'none' } } }
  const started = await startSession(owner, { ttsOptions: { sampleRate: rateHz }, recording: true, ...quiet })
  const first = new Page(started)
  t.match(await first.first('ready'), { resumed: false })
  await first.ask('before it is lost')
  await first.close()
  const second = new Page(through(started, other))
  t.match(await second.first('ready'), { resumed: true, sessionId: started.sessionId })
  t.match(await second.first('state'), { value: 'listening' })
  await second.ask('and it goes on over the other process')
  const voice = await speechAt('tt-weasels', rateHz)
  await second.say(voice)
  const saved = second.audio()
  second.send({ type: 'end' })
  t.match(await second.first('end'), { reason: 'user_hangup' })
  t.equal(second.closed ?? (await closeOf(second)), 1000)
  const whole = async () => (await call(other, `/v1/calls/${started.sessionId}`)).json
  await until('it is recorded', async () => (await whole())['recording_status'] === 'ready')
  t.match(await whole(), { status: 'completed', end_reason: 'user_hangup' })
  const recorded = await voicesOf(other, started.sessionId)
  const likeness = likenessOfPieces(voice, recorded.caller, rateHz)
  t.ok(likeness > 0.9, `the voice of the caller arrives, ${likeness.toFixed(3)}`)
  const agent = likenessOf(saved.subarray(0, rateHz / 2), recorded.agent)
  t.ok(agent > 0.9, `the voice of the agent arrives, ${agent.toFixed(3)}`)
})

t.test('the process that owns the session decides whether a relayed client may reconnect', async (t) => {
  const [owner, other] = await pair(t, cluster)
  const started = await startSession(owner)
  const page = new Page(started)
  await page.first('ready')
  const wrong = new Page({ ...through(started, other), transportToken: `${started.transportToken}x` })
  await until('it is refused', () => wrong.closed !== null)
  t.equal(page.closed, null)
  const newer = new Page(through(started, other))
  t.match(await newer.first('ready'), { resumed: true })
  t.match(await page.first('error'), { code: 'REPLACED' })
  await until('the older one has closed', () => page.closed === 1008)
  t.match(await call(other, `/v1/calls/${started.sessionId}/end`, {}), { json: { status: 'ending' } })
  t.match(await newer.first('end'), { reason: 'api_ended' })
  const late = new Page(through(started, other))
  await until('a session that is over is not joined', () => late.closed !== null)
})

t.test('if the process of a relayed session is killed, the socket closes, and the call fails', async (t) => {
  const [owner, other] = await pair(t, cluster, { PARLEY_IDEMPOTENCY_LEASE_MS: '3000' })
  const started = await startSession(owner)
  await (await joined(started)).close()
  const page = new Page(through(started, other))
  await page.first('ready')
  await owner.kill()
  await until('the relayed socket has closed', () => page.closed !== null)
  t.equal(page.closed, 1012)
  t.same(page.all('end'), [], 'the session may be joined again')
  const whole = async () => (await call(other, `/v1/calls/${started.sessionId}`)).json
  await until('the call has ended', async () => typeof (await whole())['ended_at'] === 'string', 80_000)
  t.match(await whole(), { status: 'failed', end_reason: 'worker_lost' })
  await (await Page.join(other)).ask('the other process serves on')
})

async function joined(started: Started): Promise<Page> {
  const page = new Page(started)
  await page.first('ready')
  return page
}

async function closeOf(page: Page): Promise<number | null> {
  if (page.socket.readyState !== WebSocket.CLOSED) await until('it has closed', () => page.closed !== null)
  return page.closed
}
