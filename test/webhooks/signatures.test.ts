/** Two third-party libraries verify deliveries: Standard Webhooks for Node and for Python. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { pythonEnvironment } from '../clients/python/environment.ts'
import { TestCluster } from '../store/cluster.ts'
import { missing as libraryMissing, loadLibrary } from '../vendors/standardwebhooks/verify.ts'
import { startReceiver } from './receiver.ts'
import { openWorld, setClock } from './setup.ts'

t.setTimeout(400_000)
const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const { python, missing: pythonMissing } = await pythonEnvironment('webhooks.txt')
const library = loadLibrary()

type Checked = { title: string; secret: string; headers: Record<string, string>; body: Buffer; isGood: boolean }

const headersOf = (headers: NodeJS.Dict<string | string[]>) =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  )

/**
 * Makes good and bad deliveries: under one secret, under both secrets during a rotation's overlap, and under the new
 * secret.
 */
async function deliveries(): Promise<Checked[]> {
  const clock = setClock(Date.now())
  const world = await openWorld(t, cluster, { clock })
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const endpoint = await world.endpoint(receiver.url)
  const { organizationId } = world.tenant
  const { webhookSecrets } = world.store
  const deliver = async () => {
    await world.emit(endpoint, { payload: { text: 'Grüße 👋', number: 1.0 } })
    await world.settle(world.dispatcher())
    const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: Buffer.alloc(0) }
    return { headers: headersOf(headers), body }
  }
  const { secret: old } = await webhookSecrets.find(organizationId)
  const first = await deliver()
  const { secret } = await webhookSecrets.rotate(organizationId, 60_000)
  const both = await deliver()
  clock.advance(60_000)
  const after = await deliver()
  clock.advance(-60_000 - 301_000)
  const stale = await deliver()
  const altered = Buffer.from(first.body)
  altered[altered.length - 2] = 0x20
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  return [
    { title: 'the secret of the organization', secret: old, ...first, isGood: true },
    { title: 'the old secret in the overlap', secret: old, ...both, isGood: true },
    { title: 'the new secret in the overlap', secret, ...both, isGood: true },
    { title: 'the new secret after the overlap', secret, ...after, isGood: true },
    { title: 'the old secret after the overlap', secret: old, ...after, isGood: false },
    { title: 'the new secret before it was there', secret, ...first, isGood: false },
    { title: 'another secret', secret: other, ...first, isGood: false },
    { title: 'one byte is altered', secret: old, ...first, body: altered, isGood: false },
    { title: 'another id', secret: old, ...first, headers: { ...first.headers, 'webhook-id': 'other' }, isGood: false },
    { title: 'a delivery of 301 s ago', secret, ...stale, isGood: false },
  ]
}

const checked = await deliveries()

t.test('standardwebhooks for Node verifies our signatures', { skip: library === null && libraryMissing }, (t) => {
  for (const { title, secret, headers, body, isGood } of checked) {
    const verify = () => {
      if (library) new library.Webhook(secret).verify(body, headers)
    }
    if (isGood) t.doesNotThrow(verify, title)
    else t.throws(verify, { name: 'Error' }, title)
  }
  t.end()
})

t.test('standardwebhooks for Python verifies our signatures', { skip: pythonMissing ?? false }, async (t) => {
  const program = path.join(import.meta.dirname, '../clients/python/with-standardwebhooks.py')
  const child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(checked.map(({ body, ...rest }) => ({ ...rest, body: body.toString('base64') }))))
  const verdicts = JSON.parse(await text(child.stdout)) as boolean[]
  t.same(
    checked.map(({ title }, at) => [title, verdicts[at]]),
    checked.map(({ title, isGood }) => [title, isGood]),
  )
})
