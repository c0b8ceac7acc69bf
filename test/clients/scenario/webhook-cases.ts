/** Webhooks for all clients, most of them wrong. Each client must give the same result for a webhook. */
import { createHmac } from 'node:crypto'

export type WebhookCase = {
  name: string
  secrets: string[]
  headers: Record<string, string>
  body: string
  /** The current time, in seconds since 1970. */
  now: number
}

const at = 1_700_000_000
const body = '{"type":"call.status","call_id":"call_1","status":"ended"}'
const key = Buffer.alloc(32, 7)
const standard = `whsec_${key.toString('base64')}`
const words = 'a secret in words'
/** A client checks at most this many signatures in a webhook. */
const signaturesMax = 8
const other = `v1,${Buffer.alloc(32, 1).toString('base64')}`

const sign = (key: string | Buffer, text = body, timestamp = String(at)) =>
  `v1,${createHmac('sha256', key).update(`evt_1.${timestamp}.${text}`).digest('base64')}`

const signed = sign(key)

/** Makes a webhook that is valid except for the given parts. */
function webhook(
  name: string,
  {
    id = 'evt_1',
    timestamp = String(at),
    signature = signed,
    ...more
  }: Partial<WebhookCase> & { id?: string; timestamp?: string; signature?: string } = {},
): WebhookCase {
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return { name, secrets: [standard], headers, body, now: at, ...more }
}

const others = (count: number) => Array.from({ length: count }, () => other)

export const webhookCases: readonly WebhookCase[] = [
  webhook('right'),
  webhook('words', { secrets: [words], signature: sign(words) }),
  webhook('second secret', { secrets: [words, standard] }),
  webhook('oldest', { now: at + 300 }),
  webhook('newest', { now: at - 300 }),
  webhook('too old', { now: at + 301 }),
  webhook('too new', { now: at - 301 }),
  webhook('signed time', { timestamp: `+${at}`, signature: sign(key, body, `+${at}`) }),
  webhook('long time', { timestamp: `000${at}`, signature: sign(key, body, `000${at}`) }),
  webhook('fraction', { timestamp: `${at}.0`, signature: sign(key, body, `${at}.0`) }),
  webhook('no id', { id: '' }),
  webhook('no signature', { signature: '' }),
  webhook('other id', { id: 'evt_2' }),
  webhook('other body', { body: `${body} ` }),
  webhook('other secret', { secrets: [words] }),
  webhook('eighth signature', { signature: [...others(signaturesMax - 1), signed].join(' ') }),
  webhook('ninth signature', { signature: [...others(signaturesMax), signed].join(' ') }),
  webhook('versions', { signature: [...Array.from({ length: signaturesMax }, () => 'v2,x'), signed].join(' ') }),
  webhook('two spaces', { signature: `${other}  ${signed}` }),
  webhook('without padding', { signature: signed.replace(/=+$/, '') }),
  webhook('third field', { signature: `${signed},x` }),
  webhook('other version', { signature: signed.replace('v1', 'v2') }),
  webhook('secret with a line end', { secrets: [`${standard}\n`], signature: sign(`${standard}\n`) }),
  webhook('secret without padding', {
    secrets: [standard.replace(/=+$/, '')],
    signature: sign(standard.replace(/=+$/, '')),
  }),
  webhook('no secrets', { secrets: [] }),
  webhook('short secret', { secrets: ['1234567'], signature: sign('1234567') }),
  webhook('eight characters', { secrets: ['ééééääää'], signature: sign('ééééääää') }),
  webhook('seven characters', { secrets: ['ééééäää'], signature: sign('ééééäää') }),
  webhook('no JSON', { body: 'call.status', signature: sign(key, 'call.status') }),
  webhook('a list', { body: '[]', signature: sign(key, '[]') }),
]
