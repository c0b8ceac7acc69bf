/** A started Parley whose organization has a number of the simulated carrier, an agent and an endpoint for webhooks. */
import { testKey } from '../installation.ts'
import { call } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { openDatabase } from './database.ts'
import { type Running, startParley } from './parley.ts'

export type Phones = Target & {
  parley: Running
  receiver: Receiver
  agentId: string
  /** The number of the organization. */
  number: string
  close(): Promise<void>
}

/** An agent for the usual person at the other end: it answers the questions and says goodbye. */
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
