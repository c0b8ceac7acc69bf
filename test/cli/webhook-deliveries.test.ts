/** `parley webhooks resend`, `parley webhooks recover`, `parley webhooks tail` and `parley trigger`. */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { systemIds } from '../../runtime/timing/clock.ts'
import { runCommand, startCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { inOrder, ok, type Received, startReceiver, status } from '../webhooks/receiver.ts'
import { recordDelivery } from '../webhooks/recorded.ts'
import { eventOf, openStoredEvents } from '../webhooks/stored-events.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const events = openStoredEvents(parley.databaseUrl)
t.teardown(() => events.close())

t.test('`tail` prints each change of a webhook delivery, and `resend` sends the delivery again', async (t) => {
  const acme = await admin.organization('with deliveries')
  // The next scheduled attempt is an hour away, so all other attempts come from the test.
  const receiver = await startReceiver(inOrder(status(500, { 'retry-after': '3600' }), status(503), ok))
  t.teardown(() => receiver.close())
  const wanted = { name: 'a\u001b[2Jb', url: receiver.url, events: ['call.status'] }
  const endpoint = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string; name: string }>()
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const command = (...args: string[]) => runCommand(parley, ['webhooks', ...args], env)
  const tail = startCommand(parley, ['webhooks', 'tail', '--endpoint', endpoint.id], env)
  t.teardown(async () => void (await tail.stop()))
  await until('it watches', () => tail.output().includes('watching'), 30_000)

  const tenant = { organizationId: acme.id, test: false }
  const id = await events.store(tenant, eventOf(Date.now(), { text: 'k4n4ry' }), [endpoint])
  await until('the failure is shown', () => tail.output().includes('pending after 1  http_status, 500'), 30_000)
  const listed = await call(acme, 'GET', '/v1/webhook-deliveries')
  const [delivery] = listed.json<{ data: { id: string }[] }>().data
  const failed = await command('resend', delivery?.id ?? '')
  t.same([failed.code, failed.stdout], [1, 'failed: http_status, 503\n'])
  const sent = await command('resend', delivery?.id ?? '')
  t.same([sent.code, sent.stdout], [0, 'delivered, 204\n'])
  await until('the success is shown', () => tail.output().includes('succeeded after 3'), 30_000)
  t.same(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])), new Set([id]))
  t.notMatch(tail.output(), /k4n4ry|\u001b/)
  const again = await command('resend', delivery?.id ?? '', '--json')
  t.match(JSON.parse(again.stdout), { delivered: true, httpStatus: 204, error: null })
  refused(t, await command('resend', id), /NOT_FOUND/)
})

t.test('`recover` sends the failed deliveries to an endpoint again', async (t) => {
  const acme = await admin.organization('with failures')
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const wanted = { name: 'crm', url: receiver.url, events: ['call.status'] }
  const { id } = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>()
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const recover = (...args: string[]) => runCommand(parley, ['webhooks', 'recover', 'crm', ...args], env)
  await recordDelivery(admin.store, { organizationId: acme.id, test: false }, id)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`update webhook_deliveries set status = 'failed' where endpoint_id = ${id}`
  const since = new Date(Date.now() - 60_000).toISOString()
  const sent = await recover('--since', since)
  t.same([sent.code, sent.stdout], [0, '1 delivery is sent again\n'], sent.stderr)
  await until('it has arrived', () => receiver.received.length === 1)
  const none = await recover('--since', since, '--until', new Date().toISOString(), '--json')
  t.same(JSON.parse(none.stdout), { deliveries: 0 })
  refused(t, await recover('--since', 'yesterday'), /--since: yesterday is no time/)
  refused(t, await recover('--since', '2020-01-01'), /at most 30 days ago/)
})

t.test('`trigger` sends an example event to an endpoint, or directly from the command', async (t) => {
  const acme = await admin.organization('that tries')
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const trigger = (...args: string[]) => runCommand(parley, ['trigger', ...args], env)
  for (const type of ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']) {
    const { code, stdout, stderr } = await trigger(type, '--forward-to', receiver.url, '--secret', 'of this test')
    t.equal(code, 0, stderr)
    t.match(stdout, /^204, \d+ ms\n$/, 'a secret that was given is not printed')
    const received = receiver.received.at(-1) as Received
    t.match(JSON.parse(received.body.toString()), {
      type,
      test: true,
      call_id: /^[0-9a-f-]{36}$/,
      organization_id: /^org_/,
    })
    t.equal(signatureBy('of this test', received), 'right')
  }
  const wanted = { name: 'tries', url: receiver.url, events: ['call.status'] }
  const endpoint = (await call(acme, 'POST', '/v1/webhooks', wanted)).json<{ id: string }>()
  const sent = await trigger('call.status', '--endpoint', endpoint.id)
  t.equal(sent.code, 0, sent.stderr)
  t.match(sent.stdout, /^delivered, 204, delivery [0-9a-f-]{36}\n$/)
  t.equal(receiver.received.length, 6)
  t.match(JSON.parse(receiver.received[5]?.body.toString() ?? ''), { type: 'call.status', test: true })
  const fromHere = ['trigger', 'call.status', '--forward-to', receiver.url]
  // The command line reads this variable from the process's own environment.
  process.env['PARLEY_WEBHOOK_SECRET'] = 'of the environment'
  t.teardown(() => delete process.env['PARLEY_WEBHOOK_SECRET'])
  t.match((await trigger(...fromHere.slice(1))).stdout, /^204, \d+ ms\n$/)
  delete process.env['PARLEY_WEBHOOK_SECRET']
  t.equal(signatureBy('of the environment', receiver.received.at(-1)), 'right')
  t.match((await trigger(...fromHere.slice(1))).stdout, /^204, \d+ ms, signed with whsec_\S{44}\n$/)
  await receiver.close()
  const failed = await trigger('call.status', '--endpoint', endpoint.id)
  t.equal(failed.code, 1)
  t.match(failed.stdout, /^failed: connect, no answer, delivery /)
  refused(t, await trigger('call.gone', '--endpoint', endpoint.id), /call\.gone is no event/)
  refused(t, await trigger('call.status'), /name either --endpoint or --forward-to/)
  const both = ['--endpoint', endpoint.id, '--forward-to', receiver.url]
  refused(t, await trigger('call.status', ...both), /name either --endpoint or --forward-to/)
  refused(t, await trigger('call.status', '--endpoint', systemIds.session()), /NOT_FOUND/)
})

function signatureBy(secret: string, received: Received | undefined): string {
  const { headers = {}, body = Buffer.alloc(0) } = received ?? {}
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`
  const hash = createHmac('sha256', secret).update(signed).update(body).digest('base64')
  return headers['webhook-signature'] === `v1,${hash}` ? 'right' : String(headers['webhook-signature'])
}
