/** Tests the simulated provider's adapter against a stub: each refusal, and missing answers. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { RichMessageError, type RichMessageProvider } from '../../domain/ports/rich-messages.ts'
import type { ConversationStore } from '../../domain/records/conversation.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { MessageStore, RmsgMessage } from '../../domain/records/rmsg-message.ts'
import { createSendFromNumber, type SendMessage } from '../../domain/rmsg/send-message.ts'
import { sayResourceFault } from '../../handlers/faults/resource-words.ts'
import { createRepeatable } from '../../handlers/platform/repeatable.ts'
import { rmsgMessageOperations } from '../../handlers/platform/rmsg-messages.ts'
import { createSimulatedMessages } from '../../providers/simulated/rich-messages.ts'
import type { Context } from '../../runtime/engine/handler.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { caller, MemoryKeys } from '../domain/fakes.ts'
import { wholeProcess } from '../time/quiet.ts'

type Respond = (response: ServerResponse) => void

async function serveProvider(t: Test, respond: Respond, { requestMs = 5000, clock = systemClock } = {}) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const webhookUrl = () => 'http://127.0.0.1/carrier/simulator/messages'
  const provider = createSimulatedMessages({ baseUrl, apiKey: 'KEY', webhookUrl, requestMs, clock })
  t.teardown(async () => {
    await provider.close()
    server.closeAllConnections()
    server.close()
  })
  return provider
}

/** Opens the send operation with a message store in memory, and a number for the organization. */
function sending(provider: Pick<RichMessageProvider, 'send'>, changed: Partial<MessageStore> = {}) {
  const messages = new Map<string, RmsgMessage>()
  const sendFromNumber = createSendFromNumber({
    numbers: {
      canSend: () => Promise.resolve(true),
      use: (_tenant, id) =>
        Promise.resolve({
          id,
          test: false,
          e164: '+15005550200',
          providerIdentity: 'identity',
          organizationId: 'org_1',
          agentId: null,
          status: 'active',
          smsStatus: 'ready',
          smsReadyAtMs: null,
          createdAtMs: 0,
        }),
    },
    messages: {
      insert: (message) => Promise.resolve(void messages.set(message.id, message)),
      report: (id, { status }) => {
        const message = messages.get(id)
        if (message) messages.set(id, { ...message, status })
        return Promise.resolve(messages.get(id) ?? null)
      },
      ...changed,
    },
    providerOf: () => ({ has: () => Promise.resolve(true), ...provider }),
    clock: systemClock,
    messageId: () => '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a91',
    isPhoneNumber: () => true,
  })
  return { messages, sendFromNumber }
}

const phoneNumberId = '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80'
const wanted = { to: '+15005550030', text: 'Hello', tags: {} }
const tenant = { organizationId: 'org_1', test: false }
const detail = 'No. '.repeat(200)

for (const [providerStatus, status] of [
  [400, 400],
  [404, 404],
  [409, 409],
  [422, 422],
  [429, 429],
  [401, 502],
  [403, 502],
  [402, 502],
  [500, 502],
  [503, 502],
] as const)
  t.test(`the provider answers ${providerStatus}: ${status}`, async (t) => {
    const body = JSON.stringify({ errors: [{ code: '1', title: 'No', detail: detail.slice(0, 600) }] })
    const provider = await serveProvider(t, (response) => {
      response.writeHead(providerStatus, { 'content-type': 'application/json' }).end(body)
    })
    const { sendFromNumber, messages } = sending(provider)
    const fault = await sendFromNumber(tenant, phoneNumberId, wanted).catch((error: { data: object }) => error.data)
    t.match(fault, { kind: 'message_not_sent', status: providerStatus, mayBeSent: false })
    const said = sayResourceFault(fault as Parameters<typeof sayResourceFault>[0])
    t.equal(said.status ?? 502, status)
    t.equal(said.details?.providerStatus, providerStatus)
    t.equal(said.details?.providerDetail, detail.slice(0, 512))
    t.equal([...messages.values()][0]?.status, 'error')
  })

t.test("if the provider's answer is not JSON, the error has no detail", async (t) => {
  const provider = await serveProvider(t, (response) => response.writeHead(422).end('<html>'))
  const failed = await provider
    .send({ id: 'm', conversationId: 'c', providerIdentity: 'i', to: '+15005550030', text: 'x', smsFrom: null })
    .catch((error: unknown) => error)
  t.match(failed, new RichMessageError({ status: 422, detail: null, mayBeSent: false }))
})

/**
 * Makes a function to send a message with the operation. Responses are stored for repeated requests. Returns an error's
 * data.
 */
function asking(sendFromNumber: SendMessage) {
  const kept = new Map<string, { status: number; body: string }>()
  const repeatable = createRepeatable({
    idempotency: new MemoryKeys(),
    answers: {
      keep: (use, answer) => Promise.resolve(void kept.set(use.keyDigest, answer)),
      find: (use) => Promise.resolve(kept.get(use.keyDigest) ?? 'running'),
      begin: () => () => {},
    },
    log: { info() {}, warn() {}, error() {} },
  })
  const conversations: ConversationStore = {
    list: () => Promise.resolve({ conversations: [], next: null }),
    messages: () => Promise.resolve(null),
  }
  const { sendNumberMessage } = rmsgMessageOperations(
    { sendFromNumber, sendAsAgent: sendFromNumber, listNumbers: () => Promise.resolve([]), conversations },
    repeatable,
  )
  const context = { caller: caller(), operation: 'sendNumberMessage', contentHash: 'x', requestId: 'req_1' }
  const { to, text } = wanted
  return (header: { 'idempotency-key'?: string }) => {
    const sent = Promise.resolve().then(() =>
      sendNumberMessage(
        { path: { phoneNumberId }, query: {}, header, body: { to, text } },
        context as unknown as Context<ReturnType<typeof caller>>,
      ),
    )
    return sent.catch((error: { data?: unknown }) => error.data)
  }
}

t.test('if the provider does not answer in time, the client gets 502, and the message stays pending', async (t) => {
  let asked = 0
  const clock = new TestClock({ quiet: wholeProcess })
  const provider = await serveProvider(t, () => void asked++, { requestMs: 100, clock })
  const { sendFromNumber, messages } = sending(provider)
  const request = asking(sendFromNumber)
  const ask = (header: { 'idempotency-key'?: string }) => clock.during(request(header))
  t.match(await ask({}), { kind: 'message_not_sent', status: null, mayBeSent: true }, 'without a key')
  t.match(await ask({ 'idempotency-key': 'k' }), { kind: 'message_not_sent', status: null, mayBeSent: true })
  t.equal([...messages.values()][0]?.status, 'pending')
  const repeat = await ask({ 'idempotency-key': 'k' })
  t.match(repeat, {
    status: 202,
    headers: { 'Idempotent-Replayed': 'true' },
    body: { messageId: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a91', status: 'pending', channel: null, deliveryFinal: false },
  })
  t.equal(asked, 2, 'the repeat asks nobody')
})

t.test('if the database becomes unreachable after the provider got a message, the client gets 202', async (t) => {
  const sent: string[] = []
  const provider = { send: ({ to }: { to: string }) => Promise.resolve(void sent.push(to)) }
  const report = () => Promise.reject(new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 }))
  const { sendFromNumber, messages } = sending(provider, { report })
  const ask = asking(sendFromNumber)
  t.match(await ask({}), { status: 202, body: { status: 'pending', deliveryFinal: false } }, 'without a key')
  t.match(await ask({ 'idempotency-key': 'k' }), { status: 202, body: { status: 'pending' } })
  t.match(await ask({ 'idempotency-key': 'k' }), { status: 202, headers: { 'Idempotent-Replayed': 'true' } })
  t.equal(sent.length, 2, 'the repeat sends nothing')
  t.equal([...messages.values()][0]?.status, 'pending', 'events of the provider report the result')
})

t.test('if the provider cannot be reached, the message counts as not sent', async (t) => {
  const clock = systemClock
  const webhookUrl = () => 'http://127.0.0.1/'
  const provider = createSimulatedMessages({
    baseUrl: 'http://127.0.0.1:1/v2',
    apiKey: 'KEY',
    webhookUrl,
    requestMs: 5000,
    clock,
  })
  t.teardown(() => provider.close())
  const { sendFromNumber, messages } = sending(provider)
  const fault = await sendFromNumber(tenant, phoneNumberId, wanted).catch((error: { data: object }) => error.data)
  t.match(fault, { kind: 'message_not_sent', status: null, detail: null, mayBeSent: false })
  t.equal([...messages.values()][0]?.status, 'error')
})
