/** Stubs a carrier's HTTP API. The stub records the commands and sends the test's answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { LegToDial, MediaEndpoint } from '../../domain/ports/phone-line.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { createTelnyxNumbers } from '../../providers/telnyx/numbers.ts'
import { createTelnyxLine } from '../../providers/telnyx/phone-line.ts'
import { createTelnyxMessages } from '../../providers/telnyx/rich-messages.ts'
import { createTelnyxSmsRegistry } from '../../providers/telnyx/sms-registry.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { legId } from './setup.ts'

export type Command = { method: string; path: string; authorization: string; body: Record<string, unknown> }
export type Answer = { status: number; body: object } | ((response: ServerResponse) => void)

export const carrierLegId = 'v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg=='
export const ref = { legId, carrierLegId }
export const media: MediaEndpoint = {
  url: 'wss://voice.example.com/carrier/media/leg_1',
  token: 'one.secret',
  sampleRateHz: 8000,
}
export const plainLeg: LegToDial = {
  legId,
  from: '+18005550101',
  to: '+15005550006',
  ringingTimeoutS: 30,
  timeLimitS: 3720,
  region: null,
  detectsMachine: null,
  media: null,
  headers: {},
  commandId: 'command_1',
}

export const dialled: Answer = {
  status: 200,
  body: {
    data: {
      call_control_id: carrierLegId,
      call_leg_id: 'x',
      call_session_id: 'y',
      is_alive: true,
      record_type: 'call',
    },
  },
}
export const done: Answer = { status: 200, body: { data: { result: 'ok' } } }
export const refusedWith = (status: number, code: string): Answer => ({
  status,
  body: { errors: [{ code, title: 'No', detail: 'The number +15005550006 is not good.' }] },
})

export const messagingProfileId = '4001781e-626f-4a41-a914-b1b682150f94'
export const message = {
  id: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a91',
  conversationId: '019aaaf6-7c00-8d5e-9b3a-2f1c8e4d6a70',
  providerIdentity: 'Agent007',
  to: '+15005550030',
  text: 'Your bicycle is ready. 🚲',
  smsFrom: '+15005550200',
}

export async function serveCarrier(t: Test, { requestMs = 5000, clock = systemClock } = {}) {
  const commands: Command[] = []
  const state: { answer: Answer } = { answer: done }
  const server = createServer((request, response) => void take(request, response))
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { method = '', url: path = '', headers } = request
    commands.push({
      method,
      path,
      authorization: headers.authorization ?? '',
      body: body === '' ? {} : (JSON.parse(body) as Command['body']),
    })
    const { answer } = state
    if (typeof answer === 'function') return answer(response)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const adapters = openAdapters(t, { baseUrl, requestMs, clock })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const answers = (answer: Answer) => void (state.answer = answer)
  return { ...adapters, baseUrl, commands, server, answers }
}

/** Opens all adapters for the carrier's API. */
export function openAdapters(
  t: Test,
  { baseUrl, requestMs = 5000, clock = systemClock }: { baseUrl: string; requestMs?: number; clock?: Clock },
) {
  const account = { baseUrl, apiKey: 'KEY1', requestMs, clock }
  const connectionId = '7267'
  const webhooks = 'https://voice.example.com/carrier/carrier'
  const numbers = createTelnyxNumbers({ ...account, connectionId })
  const registry = createTelnyxSmsRegistry(account)
  const line = createTelnyxLine({ ...account, name: 'carrier', connectionId, webhookUrl: `${webhooks}/webhooks` })
  const messages = createTelnyxMessages({ ...account, messagingProfileId, webhookUrl: `${webhooks}/messages` })
  t.teardown(async () => {
    await messages.close()
    await registry.close()
    await line.close()
    await numbers.close()
  })
  return { line, numbers, registry, messages }
}

/**
 * All adapters, and a function that sets the carrier's next responses. A test whose carrier has fixed responses ignores
 * the function.
 */
type Asked = ReturnType<typeof openAdapters> & { answers: (answer: Answer) => void }

/** Sends every command to the carrier, in each form. */
export async function everyCommand({ line, answers }: Pick<Asked, 'line' | 'answers'>): Promise<void> {
  const signal = new AbortController().signal
  answers(dialled)
  await line.dial(plainLeg, signal)
  await line.dial({ ...plainLeg, media, detectsMachine: 'carrier', region: 'middle_east', ringingTimeoutS: 1 }, signal)
  const headers = { 'X-Order': '7', 'user-to-user': 'abc' }
  await line.dial({ ...plainLeg, media: { ...media, sampleRateHz: 16_000 }, headers, region: 'mars' }, signal)
  await line.isAlive(ref)
  answers(done)
  await line.answer(ref, media)
  await line.answer(ref, { ...media, sampleRateHz: 16_000 })
  await line.reject(ref, 486)
  await line.hangUp(ref)
  await line.bridge(ref, { legId, carrierLegId: 'v3:other' })
  await line.sendDtmf(ref, '1w#')
  await line.find(legId)
}
