/**
 * `make demo-call`: a simulated person calls, is understood, and is transferred to another person, who is first asked
 * to accept the call. Prints the events as they come, and writes the recording with the caller on the left and the
 * agent on the right. It needs no account and no network.
 */
import '../no-time-limit.ts'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { testKey } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { startParley } from '../process/parley.ts'
import type { Target } from '../router/requests.ts'

type Row = {
  status: string
  ended_at: string | null
  end_reason: string | null
  recording_status: string | null
  transcript: { entries: ({ source: string; text: string } & Record<'heard_text', string | null>)[] }
}
type Event = {
  id: string
  event_type: string
  occurred_at: string
  status: string | null
  payload: { name?: string }
}
type Shown = { events: Set<string>; turns: number }

const file = path.resolve('demo-call.wav')
const caller = '+15005550006'
/** The person at this phone accepts with the key 1 (docs/simulator.md). */
const workshop = '+15005550017'
/** A busy machine may not understand each sentence, so the caller asks for the workshop more than once. */
const asksForWorkshop = Array<string>(3).fill('Please transfer the call to the workshop.')
const lines = ['Hello, are you also open on Saturday?', ...asksForWorkshop, 'Thank you, goodbye.']
const waitMs = 120_000

const agent = {
  name: 'Bicycle shop',
  systemPrompt: 'Q: Are you also open on Saturday?\nA: On Saturday we are open until noon.',
  firstMessage: 'Hello, this is the bicycle shop.',
  intent: { language: 'en-US', optimizeFor: 'latency' },
  llmOptions: { model: 'local:scripted' },
}
const transferCall = {
  name: 'transfer_call',
  description: 'Transfer the call to the workshop.',
  source: {
    kind: 'builtin',
    name: 'transfer_call',
    config: {
      kind: 'warm',
      destinations: [{ to: workshop, label: 'Workshop' }],
      screeningPrompt: 'A customer wants to talk to the workshop.',
      screeningTimeout: 60,
    },
  },
}

// Loads the speech engines before the call comes.
const parley = await startParley({ PARLEY_LOCAL_WARM: 'true' })
try {
  await demo({ url: parley.url, key: testKey })
} finally {
  await parley.remove()
}

async function demo(target: Target): Promise<void> {
  const { id: agentId } = await made<{ id: string }>(target, '/v1/agents', agent)
  await made(target, `/v1/agents/${agentId}/tools`, transferCall)
  const [number] = (await call(target, 'GET', '/v1/phone-numbers')).json<{ id: string; e164: string }[]>()
  if (number === undefined) throw new Error('the new installation has no number')
  await call(target, 'PATCH', `/v1/phone-numbers/${number.id}`, { agentId })
  say(`Parley runs at ${target.url}. ${caller} calls ${number.e164}, which the agent "${agent.name}" answers.\n`)

  await made(target, '/simulator/calls', { from: caller, to: number.e164, lines })
  const id = await callId(target)
  const row = await watch(target, id)
  if (row.end_reason !== 'transferred') throw new Error(`the call has ended with ${row.end_reason}`)

  const answer = await fetch(`${target.url}/v1/calls/${id}/recording/audio`, {
    headers: { authorization: `Bearer ${target.key}` },
  })
  const recording = Buffer.from(await answer.arrayBuffer())
  writeFileSync(file, recording)
  say(
    `\nThe call has ended: ${row.status}, ${row.end_reason}. Its recording, ${recording.length} bytes of stereo WAV: ${file}`,
  )
}

async function made<Made>(target: Target, where: string, body: object): Promise<Made> {
  const answer = await call(target, 'POST', where, body)
  if (answer.status !== 201) throw new Error(`${where} was answered ${answer.status}: ${answer.text}`)
  return answer.json<Made>()
}

async function callId(target: Target): Promise<string> {
  for (const endMs = Date.now() + waitMs; Date.now() < endMs; await sleep(50)) {
    const list = await call(target, 'GET', '/v1/sessions?kind=inbound&limit=1')
    const [first] = list.json<{ entries: { sessionId: string }[] }>().entries
    if (first !== undefined) return first.sessionId
  }
  throw new Error('the call has not come')
}

/** Prints the call's events until its recording is ready. */
async function watch(target: Target, id: string): Promise<Row> {
  const shown: Shown = { events: new Set(), turns: 0 }
  for (const endMs = Date.now() + waitMs; Date.now() < endMs; await sleep(100)) {
    const row = (await call(target, 'GET', `/v1/calls/${id}`)).json<Row>()
    show(shown, row, (await call(target, 'GET', `/v1/calls/${id}/events`)).json<{ events: Event[] }>().events)
    if (row.ended_at !== null && row.recording_status === 'ready') return row
  }
  throw new Error(`the call has not ended in ${waitMs / 1000} s`)
}

function show(shown: Shown, { transcript }: Row, events: readonly Event[]): void {
  for (const { id, event_type, occurred_at, status, payload } of events) {
    if (shown.events.has(id)) continue
    shown.events.add(id)
    // Prints a tool's name beside its event, or else the status.
    const more = payload.name ?? status
    say(`${occurred_at.slice(11, 23)}  ${event_type}${more === null ? '' : `  (${more})`}`)
  }
  for (const entry of transcript.entries.slice(shown.turns)) {
    const played = entry['heard_text'] ?? entry.text
    // If a turn only calls a tool, it has no text. The events show the tool.
    if (played !== '') say(`              ${entry.source}: ${played}`)
  }
  shown.turns = transcript.entries.length
}

function say(line: string): void {
  console.log(line)
}
