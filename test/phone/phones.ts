/**
 * Starts a Parley in this process on a test clock. Its organization has a number at the simulated carrier, an agent and
 * a webhook endpoint. Its engines speak and recognize words as tones. The test clock goes on while a test's request
 * waits.
 */
import { TestClock } from '../clock.ts'
import { testKey } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { ownServer, type TestServer } from '../server.ts'
import { wholeProcess } from '../time/quiet.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { eventsOf, type PhoneCallRow, type PhoneEvent } from './call-rows.ts'
import { openWordEngines } from './engines.ts'

export type ServerInTime = InTime & { server: TestServer; close: () => Promise<void> }

export type Phones = ServerInTime & {
  receiver: Receiver
  agentId: string
  /** The organization's number. */
  number: string
}

/** An agent for the default simulated person: it answers the person's questions and says goodbye. */
const shop = {
  name: 'Bicycle shop',
  systemPrompt: [
    'You are the front desk of a bicycle shop.',
    'Q: I have a question about your opening hours.',
    'A: We are open from nine to five.',
    'Q: Hello? Are you there?',
    'A: Yes, I am here.',
    'Q: Are you also open on Saturday?',
    'A: On Saturday we are open until noon.',
    'Q: And where are you?',
    'A: The shop is in Market Street.',
    'Q: Good, thank you very much.',
    'A: Thank you for calling. Goodbye.',
  ].join('\n'),
  intent: { language: 'en-US', optimizeFor: 'latency' },
  llmOptions: { model: 'local:scripted' },
  firstMessage: 'Hello, this is the bicycle shop.',
}

const events = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']

/** Starts a server without numbers, agents and endpoints. */
export async function startInTime(clock: TestClock, settings: Record<string, string>): Promise<ServerInTime> {
  // At its end the server waits for timers, so `close` lets time pass.
  const server = await ownServer({ teardown() {} }, settings, { clock, engines: openWordEngines })
  return { url: server.url, key: testKey, clock, server, close: () => clock.during(server.stop()) }
}

export const newClock = () => new TestClock({ startMs: Date.now(), quiet: wholeProcess })

export async function startPhones(settings: Record<string, string> = {}): Promise<Phones> {
  const { server, close, ...target } = await startInTime(newClock(), {
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
    ...settings,
  })
  const receiver = await startReceiver()
  const agent = await call(target, 'POST', '/v1/agents', shop)
  const agentId = agent.json<{ id: string }>().id
  const endpoint = await call(target, 'POST', '/v1/webhooks', { name: 'calls', url: receiver.url, events })
  if (endpoint.status !== 201) throw new Error(endpoint.text)
  const sql = openDatabase(server)
  const [row] = await sql<{ e164: string }[]>`update phone_numbers set agent_id = ${agentId} returning e164`
  await sql.end()
  return {
    ...target,
    server,
    receiver,
    agentId,
    number: row?.e164 ?? '',
    async close() {
      await close()
      await receiver.close()
    },
  }
}

/** A server and API key for requests, and the clock that the test moves. */
export type InTime = Target & { clock: TestClock }

/** Returns the call as soon as `isDone` returns true. Waits for at most 120 s on the test clock. */
export async function callWhen(
  target: InTime,
  id: string,
  isDone: (row: PhoneCallRow) => boolean,
): Promise<PhoneCallRow> {
  let row: PhoneCallRow | null = null
  const holds = async () => {
    row = (await call(target, 'GET', `/v1/calls/${id}`)).json<PhoneCallRow>()
    return isDone(row)
  }
  await target.clock.until(`call ${id}: ${isDone.toString()}`, holds).catch((cause: unknown) => {
    throw new Error(`a call is ${row?.status}: ${JSON.stringify(row?.transcript.entries.map(({ text }) => text))}`, {
      cause,
    })
  })
  return row as unknown as PhoneCallRow
}

/**
 * Returns the call's events once an event with this type is stored, because an event is stored a moment after its
 * cause.
 */
export async function eventsWithType(target: InTime, id: string, type: string): Promise<PhoneEvent[]> {
  let events: PhoneEvent[] = []
  await target.clock.until(`event ${type}`, async () => {
    events = await eventsOf(target, id)
    return events.some(({ event_type }) => event_type === type)
  })
  return events
}

/** Returns the id for the newest inbound call, once a call outside `known` is stored. */
export async function newestInbound(target: InTime, known: ReadonlySet<string> = new Set()): Promise<string> {
  let newest: string | undefined
  await target.clock.until('an inbound call', async () => {
    const list = await call(target, 'GET', '/v1/sessions?kind=inbound&limit=1')
    newest = list.json<{ entries: { sessionId: string }[] }>().entries[0]?.sessionId
    return newest !== undefined && !known.has(newest)
  })
  return newest as string
}
