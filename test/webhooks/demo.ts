/**
 * `make demo-webhooks`: a browser call's events reach a receiver, which is killed and comes back. One Parley process
 * with an embedded database on this machine; no account and no network.
 */
import '../no-time-limit.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { runParley } from '../process/command.ts'
import { type Running, startParley } from '../process/parley.ts'
import { call, loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { KillableReceiver, type ReceivedWebhook } from './killable-receiver.ts'
import { nodeVerifier, pythonVerifier, type SignedWebhook, type Verifier } from './verifiers.ts'

type Delivery = { id: string; eventId: string; event: string; status: string; attempts: number; error: string | null }
const waitMs = 30_000
const types = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']

const isOver = ({ status }: Delivery) => status !== 'pending' && status !== 'delivering'
const isRetried = ({ status, attempts }: Delivery) => status === 'pending' && attempts > 0

const receiver = await KillableReceiver.start()
// The guard for outbound requests refuses local IP addresses, so the demo allows them.
const parley = await startParley({
  PARLEY_PROVIDERS: loopbackProviders,
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
})
try {
  await demo(parley)
} finally {
  await receiver.remove()
  await parley.remove()
}

async function demo(parley: Running): Promise<void> {
  const dataDir = parley.dataDir
  const organization = /org_\w+/.exec((await runParley(['org', 'list'], { dataDir })).stdout)?.[0] ?? ''
  await runParley(['org', 'set', organization, 'recording=on'], { dataDir })
  say(`Parley runs at ${parley.url}, a receiver at ${receiver.url}.\n`)

  const wanted = { name: 'demo', url: receiver.url, events: types, timeoutMs: 2_000 }
  const { status, json: endpoint } = await call(parley, '/v1/webhooks', wanted)
  if (status !== 201) throw new Error(`the endpoint was answered ${status}: ${JSON.stringify(endpoint)}`)
  say(`1. An endpoint is registered for all five events: ${String(endpoint['id'])}`)

  const session = await startSession(parley)
  const page = new Page(session)
  await page.first('ready')
  await page.ask('What can you do?')
  await until('the first events', () => receiver.of('call.status').length > 0)
  say(`2. A browser call is held: ${session.sessionId}. Until now: ${countsOf(receiver.all())}`)

  await receiver.kill()
  page.send({ type: 'end' })
  await until('failed attempts', async () => (await deliveries()).filter(isRetried).length >= 3)
  say('3. The receiver is killed with SIGKILL, and the call ends. Attempts fail, and are put off for 5 s:')
  print(await deliveries())

  await receiver.comeBack()
  await until('all events', async () => (await deliveries()).every(isOver) && receiver.of('call.recording').length > 0)
  say(`4. The receiver is back, and gets all of them: ${countsOf(receiver.all())}`)

  const [analysis] = (await deliveries()).filter(({ event }) => event === 'call.analysis')
  if (analysis === undefined) throw new Error('no delivery of call.analysis')
  await call(parley, `/v1/webhook-deliveries/${analysis.id}/redeliver`, {})
  await until('the redelivery', () => receiver.of('call.analysis').length === 2)
  const ids = new Set(receiver.of('call.analysis').map(({ id }) => id))
  say(
    `5. call.analysis is sent once more: it has come ${receiver.of('call.analysis').length} times, with ${ids.size} webhook-id`,
  )

  say('6. The log of deliveries')
  print(await deliveries())

  say('7. Signatures')
  const { json } = await call(parley, '/v1/webhook-secret')
  const secret = String(json['secret'])
  for (const verifier of [nodeVerifier(secret), await pythonVerifier(secret)]) await check(verifier, secret)

  async function deliveries(): Promise<Delivery[]> {
    return (await call(parley, '/v1/webhook-deliveries')).json['data'] as Delivery[]
  }
}

async function check({ name, missing, verify }: Verifier, secret: string): Promise<void> {
  if (missing !== null) return say(`   ${name}: skipped, ${missing}`)
  const all = receiver.all()
  const good = (await verify(all)).filter(Boolean).length
  const wrong = all.flatMap((each) => refusedVariants(each, secret))
  const refused = (await verify(wrong)).filter((isGood) => !isGood).length
  say(
    `   ${name}: accepts ${good} of ${all.length}, refuses ${refused} of ${wrong.length} that were changed or are old`,
  )
  if (good !== all.length || refused !== wrong.length) throw new Error(`${name} does not agree`)
}

/**
 * Returns two refused variants of a webhook: one with another body, and one that was signed correctly, but six minutes
 * ago.
 */
function refusedVariants({ headers, body }: SignedWebhook, secret: string): SignedWebhook[] {
  const altered = Buffer.from(body)
  altered[altered.length - 2] = 0x20
  const signed = { id: headers['webhook-id'] ?? '', nowMs: Date.now() - 360_000, body }
  return [
    { headers, body: altered },
    { headers: { ...headers, ...webhookHeaders(signed, [secret]) }, body },
  ]
}

function countsOf(all: readonly ReceivedWebhook[]): string {
  return types.map((type) => `${all.filter(({ event }) => event.type === type).length} × ${type}`).join(', ')
}

function print(all: readonly Delivery[]): void {
  for (const { event, status, attempts, error, eventId } of all)
    say(`   ${event.padEnd(14)}  ${eventId}  ${status.padEnd(10)}  attempts ${attempts}  ${error ?? ''}`.trimEnd())
}

function say(line: string): void {
  console.log(line)
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedMs > waitMs) throw new Error(`no ${what} in ${waitMs / 1000} s`)
    await sleep(100)
  }
}
