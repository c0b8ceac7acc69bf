/** Writes and signs rich-message events like the simulated provider. */
import { createPrivateKey, randomUUID, sign } from 'node:crypto'
import type postgres from 'postgres'
import { simulatorSeed } from '../../app/simulator.ts'

export const masterKey = 'm'.repeat(32)
const keyHead = Buffer.from('302e020100300506032b657004220420', 'hex')
const key = createPrivateKey({
  key: Buffer.concat([keyHead, simulatorSeed(masterKey)]),
  format: 'der',
  type: 'pkcs8',
})

export type WrittenEvent = { id: string; body: Buffer }

export function receivedEvent(identity: string, text: string): WrittenEvent {
  const id = `evt_${randomUUID().replaceAll('-', '')}`
  const [message, conversation] = [randomUUID(), randomUUID()]
  // If the product parsed the JSON and wrote it again, these spaces, this order and the form of this number would be
  // lost.
  const body = `{ "id": "${id}",  "event_type": "rmsg.received", "timestamp": "${new Date().toISOString()}", "data": {
    "weight": 1.0, "message": { "id": "${message}", "conversation_id": "${conversation}", "status": "received",
    "remote_number": "+15005550199", "service": "rmsg", "content": ${JSON.stringify(text)} }, "reaction": null,
    "contacts": [], "agent_identities": [{ "id": "${identity}" }] } }`
  return { id, body: Buffer.from(body) }
}

export type MessageOfEvent = { id: string; conversationId: string; remoteNumber: string }

/** Inserts a sent message from this number with these tags into the store. */
export async function insertMessage(
  sql: postgres.Sql,
  number: { id: string; organizationId: string },
  tags: object,
): Promise<MessageOfEvent> {
  const message = { id: randomUUID(), conversationId: randomUUID(), remoteNumber: '+15005550030' }
  await sql`
    insert into rmsg_messages (organization_id, test, id, phone_number_id, conversation_id, remote_number, tags, status,
      created_at, updated_at)
    values (${number.organizationId}, false, ${message.id}, ${number.id}, ${message.conversationId},
      ${message.remoteNumber}, ${JSON.stringify(tags)}::text::json, 'queued', now(), now())`
  return message
}

/** Writes an event for a message that we have sent. `service` names its channel. */
export function outboundEvent(
  identity: string,
  { id: messageId, conversationId, remoteNumber }: MessageOfEvent,
  { type, status, service }: { type: string; status: string; service: string },
): WrittenEvent {
  const id = `evt_${randomUUID().replaceAll('-', '')}`
  const reaction =
    type === 'rmsg.reaction_received' ? { target_message_id: messageId, direction: 'inbound', reaction: 'love' } : null
  const body = `{ "id": "${id}",  "event_type": "${type}", "timestamp": "${new Date().toISOString()}", "data": {
    "weight": 1.0, "message": { "id": "${messageId}", "conversation_id": "${conversationId}", "status": "${status}",
    "remote_number": "${remoteNumber}", "service": "${service}" }, "reaction": ${JSON.stringify(reaction)},
    "contacts": [], "agent_identities": [{ "id": "${identity}" }] } }`
  return { id, body: Buffer.from(body) }
}

/** Sends the event. Returns the answer's status; null if there is no answer. */
export async function postEvent(url: string, { body }: WrittenEvent): Promise<number | null> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = sign(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), key).toString('base64')
  const headers = {
    'content-type': 'application/json',
    'telnyx-timestamp': timestamp,
    'telnyx-signature-ed25519': signature,
  }
  try {
    const answer = await fetch(`${url}/carrier/simulator/messages`, { method: 'POST', headers, body })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return null
  }
}
