/**
 * Stores rich messages, and their texts if the organization keeps them. A provider's delivery report names the
 * message but no organization.
 */
import type { RichMessageEvent } from '../../domain/ports/rich-messages.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import {
  conversationIdOf,
  type MessageStore,
  type RmsgMessage,
  receivedIdOf,
  textCharactersMax,
} from '../../domain/records/rmsg-message.ts'
import { follow } from '../../domain/records/states/rmsg-message.ts'
import type { Tx } from '../postgres/connect.ts'
import { keeps } from '../postgres/organization-choices.ts'
import { isUuid, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

export function createMessageStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>, clock: Clock): MessageStore {
  return {
    insert: (message, text) =>
      worlds.asTenant(message, async (tx) => {
        const { organizationId, test, id, phoneNumberId, conversationId, to, tags, status, channel } = message
        const created = new Date(message.createdAtMs)
        await tx`
          insert into rmsg_messages (organization_id, test, id, phone_number_id, conversation_id, remote_number, tags,
            status, channel, text, created_at, updated_at)
          values (${organizationId}, ${test}, ${id}, ${phoneNumberId}, ${conversationId}, ${to},
            ${storable(JSON.stringify(tags))}::text::json, ${status}, ${channel}, ${keptText(tx, message, text)},
            ${created}, ${created})`
      }),
    async report(id, report) {
      if (!isUuid(id)) return null
      return worlds.asOperator((tx) => reportMessage(tx, id, report, clock.nowMs()))
    },
  }
}

/**
 * Stores a received message, and its text if the organization keeps texts. If the provider sends the event again,
 * nothing changes. The provider's id for the conversation is not used, because sent messages have an id computed from
 * the two numbers.
 */
export async function insertReceived(
  tx: Tx,
  { id: eventId, messageId, occurredAtMs, remoteNumber, receivedOver, text }: RichMessageEvent,
  tenant: Tenant & { phoneNumberId: string },
  nowMs: number,
): Promise<void> {
  const { organizationId, test, phoneNumberId } = tenant
  const id = isUuid(messageId) ? messageId : receivedIdOf(eventId)
  // A provider's clock may be ahead. A time in the future would keep the conversation at the top of the list.
  const created = new Date(Math.min(occurredAtMs, nowMs))
  await tx`
    insert into rmsg_messages (organization_id, test, id, phone_number_id, conversation_id, remote_number, tags,
      direction, status, channel, text, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${phoneNumberId}, ${conversationIdOf(phoneNumberId, remoteNumber)},
      ${storable(remoteNumber)}, '{}', 'inbound', 'delivered', ${receivedOver}, ${keptText(tx, tenant, text)}, ${created}, ${created})
    on conflict do nothing`
}

/** Returns SQL for the stored text, or null if the organization keeps no texts. */
function keptText(tx: Tx, tenant: Tenant, text: string | null) {
  if (text === null) return null
  return tx`case when ${keeps(tx, tenant, 'message_text')} then left(${storable(text)}::text, ${textCharactersMax}) end`
}

/** Stores the status in a provider's delivery report. Returns the message, or null if it does not exist. */
export async function reportMessage(
  tx: Tx,
  id: string,
  report: Parameters<MessageStore['report']>[1],
  nowMs: number,
): Promise<RmsgMessage | null> {
  const [row] = await tx<Row[]>`
    select organization_id as "organizationId", test, id, phone_number_id as "phoneNumberId",
      conversation_id as "conversationId", remote_number as to, tags, status, channel, created_at as "createdAt"
    from rmsg_messages where id = ${id} for update`
  if (row === undefined) return null
  const { createdAt, ...stored } = row
  const message = { ...stored, createdAtMs: createdAt.getTime() }
  const state = follow(message, report)
  if (state === message) return message
  await tx`
    update rmsg_messages set status = ${state.status}, channel = ${state.channel}, updated_at = ${new Date(nowMs)}
    where organization_id = ${message.organizationId} and test = ${message.test} and id = ${id}`
  return { ...message, ...state }
}

type Row = Omit<RmsgMessage, 'createdAtMs'> & { createdAt: Date }
