/** Stores sent rich messages. A provider's delivery report names the message but no organization. */

import type { Clock } from '../../domain/ports/system.ts'
import type { MessageStore, RmsgMessage } from '../../domain/records/rmsg-message.ts'
import { follow } from '../../domain/records/states/rmsg-message.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

export function createMessageStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>, clock: Clock): MessageStore {
  return {
    insert: (message) =>
      worlds.asTenant(message, async (tx) => {
        const { organizationId, test, id, phoneNumberId, conversationId, to, tags, status, channel } = message
        const created = new Date(message.createdAtMs)
        await tx`
          insert into rmsg_messages (organization_id, test, id, phone_number_id, conversation_id, remote_number, tags,
            status, channel, created_at, updated_at)
          values (${organizationId}, ${test}, ${id}, ${phoneNumberId}, ${conversationId}, ${to},
            ${storable(JSON.stringify(tags))}::text::json, ${status}, ${channel}, ${created}, ${created})`
      }),
    async report(id, report) {
      if (!isUuid(id)) return null
      return worlds.asOperator((tx) => reportMessage(tx, id, report, clock.nowMs()))
    },
  }
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
