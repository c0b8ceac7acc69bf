import type { Test } from 'tap'
import { hourMs } from '../callbacks/callback.ts'
import { newCall } from '../calls/call.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { TestServer } from '../server.ts'
import { inOrder, startReceiver, status } from '../webhooks/receiver.ts'
import { insertEndpoint, recordDelivery } from '../webhooks/recorded.ts'
import type { Examples, Sent } from './run.ts'

/** Compares responses about webhook deliveries with the contract's examples. */
export async function compareDeliveries(
  t: Test,
  examples: Examples,
  { parley, admin }: { parley: TestServer; admin: Administration },
): Promise<void> {
  const acme = await admin.organization('with webhooks')
  const receiver = await startReceiver(
    inOrder(status(204), status(500), status(204), (response) => {
      response.end('{"firstMessage": 7}')
    }),
  )
  const sql = openDatabase(parley)
  t.teardown(() => Promise.all([receiver.close(), sql.end()]))
  const tenant = { organizationId: acme.id, test: false }
  const compare = async (example: string, sent: Sent) =>
    examples.compare(t, await examples.send(acme, sent), { example })
  await compare('listWebhookDeliveries 200: none', { operation: 'listWebhookDeliveries' })
  const endpointId = await insertEndpoint(sql, tenant, receiver.url)
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const id = await recordDelivery(admin.store, tenant, endpointId, {
    callId: stored.id,
    agentId: 'agent_7Hq2mXb0cVtR5sYp1LwEk9',
    payload: { status: 'completed' },
  })
  const values = { id }
  await compare('listWebhookDeliveries 200: one', { operation: 'listWebhookDeliveries' })
  await compare('getWebhookDelivery 200: succeeded', { operation: 'getWebhookDelivery', values })
  await compare('redeliverWebhook 200: delivered', { operation: 'redeliverWebhook', values })
  await compare('redeliverWebhook 200: failed', { operation: 'redeliverWebhook', values })
  const tried = { operation: 'testWebhook', values: { id: endpointId } }
  await compare('testWebhook 200: delivered', { ...tried, request: 'status' })
  await compare('testWebhook 200: invalid', { ...tried, request: 'answer' })
  const fields = { since: new Date(Date.now() - hourMs).toISOString() }
  const recovered = { operation: 'recoverWebhook', request: 'outage', values: { id: endpointId }, fields }
  await compare('recoverWebhook 202: outage', recovered)
  await sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'manual' where id = ${endpointId}`
  await compare('RedeliveryConflict: disabled', { operation: 'redeliverWebhook', values })
  await compare('RecoveryConflict: endpointDisabled', recovered)
}
