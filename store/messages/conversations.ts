/**
 * Reads conversations from their messages. No conversation is stored: a message is its conversation's last message if
 * the conversation has no newer message.
 */
import type {
  Conversation,
  ConversationFilter,
  ConversationMessage,
  ConversationStore,
  MessagePosition,
  ShownMessage,
} from '../../domain/records/conversation.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, isUuid } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

/** A page of conversations reads this many messages at most, so that a rare number takes a limited time. */
const scannedMax = 20_000
/** At most this many messages of a conversation are counted, so that long conversations take a limited time. */
const countedMax = 1_000

export function createConversationStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>): ConversationStore {
  const conversationsOf = async (tenant: Tenant, rows: readonly LastRow[]): Promise<Conversation[]> => {
    const numbers = rows.length === 0 ? [] : await worlds.asOperator((tx) => readNumbers(tx, tenant, rows))
    const found = new Map(numbers.map((number) => [number.id, number]))
    return rows.map((row) => conversationOf(row, found.get(row.phoneNumberId)))
  }
  return {
    async list(tenant, filter, limit, after) {
      const { rows, end } = await worlds.asTenant(tenant, async (tx) => {
        await readInIndexOrder(tx)
        const rows = await readLast(tx, tenant, filter, limit + 1, after)
        return { rows, end: rows.length > limit ? null : await endOfScan(tx, tenant, filter, after) }
      })
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : end
      return { conversations: await conversationsOf(tenant, page), next: last ? positionOf(last) : null }
    },
    async messages(tenant, id, limit, after) {
      if (!isUuid(id)) return null
      const read = await worlds.asTenant(tenant, async (tx) => {
        await readInIndexOrder(tx)
        return {
          rows: await readMessages(tx, tenant, id, limit + 1, after),
          last: await readLastOf(tx, tenant, id),
        }
      })
      const [conversation] = await conversationsOf(tenant, read.last)
      if (conversation === undefined) return null
      const messages = read.rows.slice(0, limit)
      const end = read.rows.length > limit ? messages.at(-1) : undefined
      return { conversation, messages: messages.map(messageOf), next: end ? positionOf(end) : null }
    },
  }
}

/**
 * Makes Postgres read messages in an index's order, until the transaction ends. Postgres expects few rows behind a row
 * policy, so each page would read and sort all the organization's messages.
 */
async function readInIndexOrder(tx: Tx): Promise<void> {
  await tx`select set_config('enable_sort', 'off', true)`
}

type ShownRow = Omit<ShownMessage, 'createdAtMs'> & { createdAt: Date }
type LastRow = ShownRow & { conversationId: string; phoneNumberId: string; remoteNumber: string; messages: number }
type MessageRow = ShownRow & Pick<ConversationMessage, 'tags'> & { updatedAt: Date }
type NumberRow = { id: string; phoneNumber: string; agentId: string | null }

const shownColumns = (tx: Tx) => tx`
  id, direction, channel, case direction when 'inbound' then 'received' else status end as status, text,
  created_at as "createdAt"`

const lastColumns = (tx: Tx) => tx`
  ${shownColumns(tx)}, conversation_id as "conversationId", phone_number_id as "phoneNumberId",
  remote_number as "remoteNumber", (
    select count(*)::int from (
      select from rmsg_messages c
      where c.organization_id = m.organization_id and c.test = m.test and c.conversation_id = m.conversation_id
      order by c.created_at desc, c.id desc limit ${countedMax}) as counted
  ) as messages`

const newestFirst = (tx: Tx) => tx`order by created_at desc, id desc`

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`organization_id = ${organizationId} and test = ${test}`

const afterPosition = (tx: Tx, after: MessagePosition | null) =>
  after === null ? tx`` : tx`and (created_at, id) < (${new Date(after.createdAtMs)}, ${after.id})`

/** Returns SQL for the messages that a page reads. If the filter has a whole number, an index finds its messages. */
const scanned = (
  tx: Tx,
  tenant: Tenant,
  { number, fromMs, toMs }: ConversationFilter,
  after: MessagePosition | null,
) => tx`
  select * from rmsg_messages
  where ${ofTenant(tx, tenant)} ${afterPosition(tx, after)}
    ${number?.startsWith('+') ? tx`and remote_number = ${number}` : tx``}
    ${fromMs === undefined ? tx`` : tx`and created_at >= ${new Date(fromMs)}`}
    ${toMs === undefined ? tx`` : tx`and created_at < ${new Date(toMs)}`}
  ${newestFirst(tx)} limit ${scannedMax}`

/** The sub-select for the newest message is not a join, so Postgres stops when the page is full. */
function readLast(
  tx: Tx,
  tenant: Tenant,
  filter: ConversationFilter,
  rowsMax: number,
  after: MessagePosition | null,
): Promise<LastRow[]> {
  const { agentId, phoneNumberId, number } = filter
  const digits = number?.startsWith('+') === false ? number : null
  return tx<LastRow[]>`
    select ${lastColumns(tx)} from (${scanned(tx, tenant, filter, after)}) as m
    where id = (
      select n.id from rmsg_messages n
      where n.organization_id = m.organization_id and n.test = m.test and n.conversation_id = m.conversation_id
      order by n.created_at desc, n.id desc limit 1)
      ${phoneNumberId === undefined ? tx`` : tx`and phone_number_id = ${phoneNumberId}`}
      ${digits === null ? tx`` : tx`and right(remote_number, ${digits.length}) = ${digits}`}
      ${agentId === undefined ? tx`` : tx`and phone_number_id in (select r.id from rmsg_numbers r where ${ofTenant(tx, tenant)} and r.agent_id = ${agentId})`}
    ${newestFirst(tx)} limit ${rowsMax}`
}

/**
 * Returns the last message that the search for one page may read. Undefined if fewer messages are left. This is a
 * separate statement, because it reads only an index: a statement that also searched the conversations would have to
 * hold all these messages in memory.
 */
async function endOfScan(tx: Tx, tenant: Tenant, filter: ConversationFilter, after: MessagePosition | null) {
  const [end] = await tx<Pick<ShownRow, 'id' | 'createdAt'>[]>`
    select id, created_at as "createdAt" from (${scanned(tx, tenant, filter, after)}) as m
    ${newestFirst(tx)} offset ${scannedMax - 1} limit 1`
  return end
}

function readLastOf(tx: Tx, tenant: Tenant, id: string): Promise<LastRow[]> {
  return tx<LastRow[]>`
    select ${lastColumns(tx)} from rmsg_messages m where ${ofTenant(tx, tenant)} and conversation_id = ${id}
    ${newestFirst(tx)} limit 1`
}

function readMessages(tx: Tx, tenant: Tenant, id: string, rowsMax: number, after: MessagePosition | null) {
  return tx<MessageRow[]>`
    select ${shownColumns(tx)}, tags, updated_at as "updatedAt" from rmsg_messages
    where ${ofTenant(tx, tenant)} and conversation_id = ${id} ${afterPosition(tx, after)}
    ${newestFirst(tx)} limit ${rowsMax}`
}

/**
 * Reads conversations' numbers. A tenant cannot see a number outside its pool, but may have sent from the number
 * before. So the operator's access reads the numbers, and only the tenant's agents are returned.
 */
function readNumbers(tx: Tx, { organizationId, test }: Tenant, rows: readonly LastRow[]) {
  const ids = new Set(rows.map(({ phoneNumberId }) => phoneNumberId))
  return tx<NumberRow[]>`
    select id, e164 as "phoneNumber", case organization_id when ${organizationId} then agent_id end as "agentId"
    from rmsg_numbers where test = ${test} and id = any(${arrayLiteral(ids)}::uuid[])`
}

function conversationOf(row: LastRow, number: NumberRow | undefined): Conversation {
  const { conversationId: id, phoneNumberId, remoteNumber, messages } = row
  const { phoneNumber = null, agentId = null } = number ?? {}
  return { id, phoneNumberId, phoneNumber, agentId, remoteNumber, lastMessage: shownOf(row), messages }
}

function shownOf({ id, direction, channel, status, text, createdAt }: ShownRow): ShownMessage {
  return { id, direction, channel, status, text, createdAtMs: createdAt.getTime() }
}

function messageOf({ tags, updatedAt, ...row }: MessageRow): ConversationMessage {
  return { ...shownOf(row), tags, updatedAtMs: updatedAt.getTime() }
}

function positionOf({ id, createdAt }: Pick<ShownRow, 'id' | 'createdAt'>): MessagePosition {
  return { id, createdAtMs: createdAt.getTime() }
}
