/** Message events as Telnyx sends them, signed with a test key. */
import { generateKeyPairSync, sign } from 'node:crypto'

const pair = generateKeyPairSync('ed25519')
/** The public key of the test's signatures: 32 bytes in base64. */
export const messageKey = {
  publicKey: pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
}

export type SignedMessage = [headers: Record<string, string>, body: Buffer]

export function signedMessage(event: object, nowMs = Date.now()): SignedMessage {
  const body = Buffer.from(JSON.stringify(event))
  const timestamp = String(Math.floor(nowMs / 1000))
  const signature = sign(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), pair.privateKey).toString('base64')
  return [{ 'telnyx-timestamp': timestamp, 'telnyx-signature-ed25519': signature }, body]
}

/** Makes an event for an RCS message from the agent Agent007, with the fields in `payload`. */
export function messageEvent(id: string, type: string, payload: object): object {
  return {
    data: {
      record_type: 'event',
      id,
      event_type: type,
      occurred_at: '2026-11-23T22:00:01.000+00:00',
      payload: {
        record_type: 'message',
        direction: 'outbound',
        id: '4031938e-60e4-4235-a8dd-0b1c55a23e7a',
        type: 'RCS',
        from: { agent_id: 'Agent007', agent_name: 'Shop' },
        to: [{ phone_number: '+15005550030', status: 'sent' }],
        body: { content_message: { text: 'Ready.' } },
        received_at: '2026-11-23T22:00:00.000+00:00',
        errors: [],
        ...payload,
      },
    },
    meta: { attempt: 1, delivered_to: 'https://voice.example.com/carrier/carrier/messages' },
  }
}
