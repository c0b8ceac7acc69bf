/**
 * `parley listen`: an organization's live or test events reach a receiver on this machine, without a webhook endpoint.
 */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Tenant } from '../../domain/records/organization.ts'
import type { OutboxEvent } from '../../domain/webhooks/outbox.ts'

import { runCommand, startCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { until } from '../process/machine.ts'
import { loopbackProviders, Page } from '../session/voice-session.ts'
import { type Answer, inOrder, ok, type Received, startReceiver, status } from '../webhooks/receiver.ts'
import { eventOf, openStoredEvents } from '../webhooks/stored-events.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_PROVIDERS: loopbackProviders })
const events = openStoredEvents(parley.databaseUrl)
t.teardown(() => events.close())

async function receiver(t: Test, answer?: Answer) {
  const started = await startReceiver(answer)
  t.teardown(() => started.close())
  const { received, url } = started
  return { received, url, ids: () => received.map(({ headers }) => String(headers['webhook-id'])) }
}

/** Starts the command and waits until it listens. */
async function listen(t: Test, key: string, args: string[], { url = parley.url, dataDir = freshDataDir() } = {}) {
  const server = { ...parley, url, dataDir }
  const { output, stop } = startCommand(server, ['listen', ...args], { PARLEY_API_KEY: key })
  t.teardown(async () => void (await stop()))
  await until('it listens', () => /listening to|"server"/.test(output()), 30_000)
  const lines = () =>
    output()
      .split('\n')
      .filter((line) => /^\d\d:\d\d:\d\d\.\d{3} /.test(line))
  return { output, lines, stop, secret: () => /secret +(\S+)/.exec(output())?.[1] ?? '' }
}

const newEvent = (more?: Partial<OutboxEvent>) => eventOf(Date.now(), { text: 'k4n4ry ü "\u2028\\' }, more)

async function store(tenant: Tenant, ...made: OutboxEvent[]): Promise<void> {
  for (const event of made) await events.store(tenant, event)
}

function storedEvents(tenant: Tenant): Promise<number> {
  return events.asTenant(tenant, async (tx) => (await tx`select from webhook_events`).count)
}

async function newTenant() {
  const { id, key } = await admin.organization('that listens')
  return { key, tenant: { organizationId: id, test: false } }
}

t.test("`listen` forwards an event's exact bytes, signed, even without a webhook endpoint", async (t) => {
  const { key, tenant } = await newTenant()
  await store(tenant, newEvent())
  t.equal(await storedEvents(tenant), 0, 'nothing is stored while nobody listens')
  const { received, url, ids } = await receiver(t)
  const listening = await listen(t, key, ['--forward-to', url])
  t.match(listening.output(), `listening to the live world of ${parley.url}`)
  const event = newEvent()
  await store(tenant, event)
  await until('it has come', () => received.length === 1)
  const [{ body, headers }] = received as [Received]
  t.same(ids(), [event.id])
  t.ok(body.equals(event.body))
  t.equal(headers['content-type'], 'application/json')
  const secret = Buffer.from(listening.secret().replace('whsec_', ''), 'base64')
  t.equal(secret.length, 32)
  const timestamp = String(headers['webhook-timestamp'])
  t.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 60)
  const hash = createHmac('sha256', secret).update(`${event.id}.${timestamp}.`).update(event.body).digest('base64')
  t.equal(headers['webhook-signature'], `v1,${hash}`)
  await until('a line', () => listening.lines().length === 1)
  t.match(listening.lines()[0], new RegExp(`^[\\d:.]+ {2}call\\.status {5}${event.callId} {2}204 {2}\\d+ ms$`))
  t.notMatch(listening.output(), 'k4n4ry', 'no content')
})

t.test('`listen` gets events without a webhook endpoint; without `listen` or an endpoint none is stored', async (t) => {
  const { key, tenant } = await newTenant()
  await runCommand(parley, ['org', 'set', tenant.organizationId, 'recording=on'])
  const { received, url } = await receiver(t)
  const hold = async () => {
    const page = await Page.join({ url: parley.url, key })
    await page.ask('What can you do?')
    page.send({ type: 'end' })
    return page.id
  }
  await hold()
  t.equal(await storedEvents(tenant), 0)
  await listen(t, key, ['--forward-to', url])
  const id = await hold()
  const typesOf = () => received.map(({ body }) => JSON.parse(body.toString()) as { type: string; call_id: string })
  const types = ['call.analysis', 'call.recording', 'call.report', 'call.status']
  const ofCall = () => typesOf().filter(({ call_id: callId }) => callId === id)
  await until('all four', () => types.every((type) => ofCall().some((each) => each.type === type)), 60_000)
  t.equal(ofCall().filter(({ type }) => type === 'call.status').length, 2, 'in_progress and completed')
  t.match(
    ofCall().find(({ type }) => type === 'call.report'),
    { custom_data: {} },
  )
})

t.test('`listen` receives no events of other organizations, and with a live key no test events', async (t) => {
  const [one, two] = [await newTenant(), await newTenant()]
  const { key } = await admin.key(one.tenant.organizationId, { test: true })
  const live = await listen(t, one.key, [])
  const test = await listen(t, key, [])
  t.match(test.output(), 'listening to the test world')
  const [ofLive, ofTest] = [newEvent(), newEvent()]
  await store(two.tenant, newEvent())
  await store(one.tenant, ofLive)
  await store({ ...one.tenant, test: true }, ofTest)
  await until('both', () => live.lines().length + test.lines().length === 2)
  t.match(live.lines(), [ofLive.callId])
  t.match(test.lines(), [ofTest.callId])
  t.equal(await storedEvents(two.tenant), 0)
})

t.test('if the connection of `listen` is cut, no event is lost and no event is sent twice', async (t) => {
  const { key, tenant } = await newTenant()
  const { received, url, ids } = await receiver(t)
  const way = await cuttable(t)
  await listen(t, key, ['--forward-to', url], { url: way.url })
  const sent = Array.from({ length: 6 }, () => newEvent())
  await store(tenant, ...sent.slice(0, 2))
  await until('the first two', () => received.length === 2)
  way.cut()
  await store(tenant, ...sent.slice(2, 4))
  await way.repair()
  await until('those of between', () => received.length >= 4, 30_000)
  await store(tenant, ...sent.slice(4))
  await until('the last', () => received.length >= 6)
  t.same(ids().sort(), sent.map(({ id }) => id).sort())
})

t.test('`listen` prints each event, each retry and each failure', async (t) => {
  const { key, tenant } = await newTenant()
  const answers = inOrder(status(500), status(302, { location: '/elsewhere' }), ok)
  const { received, url, ids } = await receiver(t, answers)
  const options = ['--forward-to', url, '--events', 'call.report,call.recording', '--retries', '2']
  const listening = await listen(t, key, options)
  const report = newEvent({ type: 'call.report', version: 1 })
  await store(tenant, newEvent(), report)
  await until('three attempts', () => listening.lines().length === 3)
  t.same(ids(), [report.id, report.id, report.id])
  const shown = listening.lines().map((line) => line.split(/ {2,}/).slice(3))
  t.match(shown, [['500'], ['302', /ms$/, '(attempt 2)'], ['204', /ms$/, '(attempt 3)']])
  t.not(received[0]?.headers['webhook-timestamp'], received[2]?.headers['webhook-timestamp'], 'a time for each attempt')
  const nobody = await listen(t, key, ['--forward-to', await unused()])
  await store(tenant, newEvent())
  await until('a line', () => nobody.lines().length === 1)
  t.match(nobody.lines()[0], 'nobody listens there')
})

t.test('`listen --json` prints one JSON line for the start and for each event, without content', async (t) => {
  const { key, tenant } = await newTenant()
  const { url } = await receiver(t)
  const listening = await listen(t, key, ['--forward-to', url, '--json', '--secret', 'of my own'])
  const event = newEvent()
  await store(tenant, event)
  await until('the event is printed', () => listening.output().includes(event.id))
  const [opening, sent] = listening
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  t.match(opening, { test: false, server: parley.url, forwardTo: url, secret: null, chaos: [] })
  t.match(sent, {
    time: String,
    id: event.id,
    type: event.type,
    callId: event.callId,
    received: true,
    durationMs: Number,
  })
  t.notMatch(listening.output(), 'k4n4ry')
})

t.test('with --chaos a receiver gets each event, some twice, and `listen` prints the seed', async (t) => {
  const { key, tenant } = await newTenant()
  const { received, url, ids } = await receiver(t)
  const listening = await listen(t, key, ['--forward-to', url, '--chaos', 'dup,reorder,500', '--seed', '7'])
  t.match(listening.output(), 'chaos   dup, reorder, 500 with --seed 7')
  const sent = Array.from({ length: 10 }, () => newEvent())
  await store(tenant, ...sent)
  const different = () => new Set(ids())
  await until('all', () => different().size === 10, 20_000)
  t.same([...different()].sort(), sent.map(({ id }) => id).sort())
  await until('repeats', () => received.length > 10)
  t.match(listening.output(), 'counts as 500')
  t.match(listening.output(), '(dup)')
})

t.test('each run of `listen` with the same data folder uses the same webhook secret', async (t) => {
  const { key } = await newTenant()
  const { url } = await receiver(t)
  const dataDir = freshDataDir()
  const first = await listen(t, key, ['--forward-to', url], { dataDir })
  const second = await listen(t, key, ['--forward-to', url], { dataDir })
  t.equal(first.secret(), second.secret())
  const given = await listen(t, key, ['--forward-to', url, '--secret', 'of my own'], { dataDir })
  t.notMatch(given.output(), 'secret', 'one that was given is not printed')
  t.notMatch(given.output(), 'of my own')
})

t.test('`listen` refuses a wrong API key, scope, URL or option', async (t) => {
  const { key } = await newTenant()
  const command = (args: string[], more: Record<string, string> = {}) =>
    runCommand({ ...parley, dataDir: freshDataDir() }, ['listen', ...args], { PARLEY_API_KEY: key, ...more })
  refused(t, await command([], { PARLEY_API_KEY: 'sk_live_wrong' }), /PARLEY_API_KEY is refused by /)
  const { key: narrow } = await admin.organization('without the scope', { scopes: ['router'] })
  refused(t, await command([], { PARLEY_API_KEY: narrow }), /FORBIDDEN/)
  refused(t, await command([], { PARLEY_URL: await unused() }), /no Parley answers at /)
  refused(t, await command(['--forward-to', 'localhost:3000']), /--forward-to takes an address/)
  refused(t, await command(['--events', 'call.pre_call']), /--events does not know call\.pre_call/)
  refused(t, await command(['--chaos', 'dup,fire']), /--chaos does not know fire/)
  refused(t, await command(['--retries', '11']), /--retries takes a whole number from 0 to 10/)
  refused(t, await command(['--secret', 'short']), /--secret takes 8 to 256 characters/)
})

/** Returns a URL at which no server listens. The system chooses the port, because fetch refuses some low ports. */
async function unused(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

/** Puts a proxy in front of the server, whose connections a test can cut. */
async function cuttable(t: Test) {
  const { port } = new URL(parley.url)
  const open = new Set<net.Socket>()
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => other.destroy())
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = (server.address() as AddressInfo).port
  const cut = () => {
    server.close()
    for (const socket of open) socket.destroy()
  }
  t.teardown(cut)
  return {
    url: `http://127.0.0.1:${at}`,
    cut,
    async repair() {
      server.listen(at, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
