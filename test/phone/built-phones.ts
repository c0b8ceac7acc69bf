/** A started Parley whose organization has a number of the simulated carrier, an agent and an endpoint for webhooks. */
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { type Running, startParley, testKey } from '../process/parley.ts'
import type { Target } from '../router/requests.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'

export type Phones = Target & {
  parley: Running
  receiver: Receiver
  agentId: string
  /** The number of the organization. */
  number: string
  close(): Promise<void>
}

/** An agent that answers the questions of the usual person at the other end, and says goodbye. */
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

export async function startPhones(env: Record<string, string> = {}): Promise<Phones> {
  const parley = await startParley({ PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8', ...env })
  const receiver = await startReceiver()
  const target = { url: parley.url, key: testKey }
  const agent = await call(target, 'POST', '/v1/agents', shop)
  const agentId = agent.json<{ id: string }>().id
  const endpoint = await call(target, 'POST', '/v1/webhooks', { name: 'calls', url: receiver.url, events })
  if (endpoint.status !== 201) throw new Error(endpoint.text)
  const sql = openDatabase(parley.dataDir)
  const [row] = await sql<{ e164: string }[]>`update phone_numbers set agent_id = ${agentId} returning e164`
  await sql.end()
  return {
    ...target,
    parley,
    receiver,
    agentId,
    number: row?.e164 ?? '',
    async close() {
      await parley.remove()
      await receiver.close()
    },
  }
}

export type PhoneCallRow = Record<string, unknown> & {
  id: string
  status: string
  end_reason: string | null
  ended_at: string | null
  direction: string
  from: string | null
  to: string
  call_control_id: string
  transcript: {
    entries: ({ source: string; text: string; tool_calls?: unknown[] } & Record<'heard_text', string | null>)[]
  }
  report: { outcome: string } | null
  recording_status: string | null
}
export type PhoneEvent = {
  provider: string
  event_type: string
  status: string | null
  failure_cause: string | null
  sip_status_code: number | null
  payload: Record<string, unknown>
}

/** The call as soon as `isDone` holds. */
export async function callWhen(
  target: Target,
  id: string,
  isDone: (row: PhoneCallRow) => boolean,
  waitMs = 120_000,
): Promise<PhoneCallRow> {
  for (const endMs = Date.now() + waitMs; ; ) {
    const answer = await call(target, 'GET', `/v1/calls/${id}`)
    const row = answer.json<PhoneCallRow>()
    // It may ask too often for the limit of a key.
    if (answer.status !== 429 && isDone(row)) return row
    if (Date.now() > endMs) throw new Error(`a call is ${row.status} after ${waitMs} ms`)
    await sleep(answer.status === 429 ? 1000 : 200)
  }
}

export const hasEnded = (row: PhoneCallRow) => row.ended_at !== null && row.report !== null

export async function eventsOf(target: Target, id: string): Promise<PhoneEvent[]> {
  return (await call(target, 'GET', `/v1/calls/${id}/events`)).json<{ events: PhoneEvent[] }>().events
}

/** A machine that does other things too is late by no more. */
const lateMs = 40_000

/** The newest inbound call, once it is there. */
export async function newestInbound(target: Target, known: ReadonlySet<string> = new Set()): Promise<string> {
  for (const endMs = Date.now() + lateMs; Date.now() < endMs; await sleep(50)) {
    const list = await call(target, 'GET', '/v1/sessions?kind=inbound&limit=1')
    const id = list.json<{ entries: { sessionId: string }[] }>().entries[0]?.sessionId
    if (id !== undefined && !known.has(id)) return id
  }
  throw new Error('no inbound call')
}
