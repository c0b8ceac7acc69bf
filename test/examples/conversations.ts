import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import type { TestServer } from '../server.ts'
import type { Examples } from './run.ts'

/** Compares responses about conversations with the contract's examples. */
export async function compareConversations(
  t: Test,
  examples: Examples,
  { parley, admin }: { parley: TestServer; admin: Administration },
): Promise<void> {
  const shop = await admin.organization('with conversations')
  const none = { operation: 'listConversations' }
  examples.compare(t, await examples.send(shop, none), { example: 'listConversations 200: none' })
  const agent = await examples.send(shop, { operation: 'createAgent', request: 'least' })
  const { id: agentId } = JSON.parse(agent.body.toString()) as { id: string }
  const sql = openDatabase(parley)
  // The local installation has the example's number.
  const e164 = '+15005550290'
  const renamed = { [e164]: '+15005550200' }
  const number = await insertRmsgNumber(sql, { e164, organizationId: shop.id, agentId })
  const to = '+15005550038'
  const id = conversationIdOf(number, to)
  const message = { organizationId: shop.id, test: false, phoneNumberId: number, conversationId: id, to }
  const createdAtMs = Date.now()
  const sent = { ...message, id: randomUUID(), tags: { team: 'shop' }, createdAtMs }
  await admin.store.rmsgMessages.insert({ ...sent, status: 'delivered', channel: 'rmsg' }, 'Your bicycle is ready.')
  await admin.store.rmsgEvents.route({
    ...{ id: `evt_${randomUUID()}`, type: 'rmsg.received', occurredAtMs: createdAtMs + 1 },
    ...{ providerIdentity: `identity-${e164}`, conversationId: null, remoteNumber: to, messageId: randomUUID() },
    ...{ report: null, receivedOver: 'rmsg', text: 'Thank you.', bytesFor: () => Buffer.from('{}') },
  })
  await sql.end()
  const parameters = ['agentId', 'number', 'since', 'until', 'limit']
  const listed = await examples.send(shop, { operation: 'listConversations', parameters, values: { agentId } })
  examples.compare(t, listed, { example: 'listConversations 200: one', renamed })
  const read = { operation: 'listConversationMessages', parameters: ['limit'], values: { id } }
  examples.compare(t, await examples.send(shop, read), { example: 'listConversationMessages 200: two', renamed })
}
