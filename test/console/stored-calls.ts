/** Stores whole calls for tests of pages: turns, spans, events, costs, a call report, and a recording. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { wavHeader } from '../../audio/wav.ts'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import { inboundPhone, newCall, newEvent } from '../calls/call.ts'
import type { Administration } from '../platform/setup.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from '../store/settlement.ts'
import { type Conversation, conversation, type Speech } from './conversations.ts'

type Place = { admin: Administration; organizationId: string; dataDir: string }

/** Stores an ended call with a recording. `number` makes its words and times. Returns its id. */
export async function storeCall(place: Place, number: number, more: Partial<Call> = {}): Promise<string> {
  const { admin, organizationId, dataDir } = place
  const createdAtMs = more.createdAtMs ?? Date.now() - number * 3_600_000
  const startedAtMs = createdAtMs + 1200
  const talk = conversation(number, startedAtMs)
  const phone = { ...inboundPhone, from: `+1212555${String(1000 + number)}` }
  const call = newCall(organizationId, { kind: 'inbound', phone, createdAtMs, updatedAtMs: createdAtMs, ...more })
  const tenant = { organizationId, test: false }
  await admin.store.calls.insert(call, {})
  await settleCosts(place, call, number, startedAtMs)
  await admin.store.calls.append(tenant, call.id, entriesOf(call, talk, startedAtMs))
  await admin.store.reports.complete(tenant, call.id, analysisOf(number), true)
  writeRecording(dataDir, call.id, talk)
  return call.id
}

/** Stores a call that is live, with the turns of its conversation so far. Returns its id. */
export async function storeLiveCall(place: Place, number: number, more: Partial<Call> = {}): Promise<string> {
  const { admin, organizationId } = place
  const startedAtMs = Date.now() - 40_000
  const call = newCall(organizationId, { createdAtMs: startedAtMs - 900, ...more })
  await admin.store.calls.insert(call, {})
  const { entries } = conversation(number, startedAtMs)
  await admin.store.calls.append({ organizationId, test: false }, call.id, [begin(call, startedAtMs), ...entries])
  return call.id
}

/** Ends a live call, as if the caller hung up. */
export async function endLiveCall({ admin, organizationId }: Omit<Place, 'dataDir'>, id: string): Promise<void> {
  const atMs = Date.now()
  const change = { endedAtMs: atMs, endReason: 'user_hangup' as const }
  const event = newEvent('call.completed', { occurredAtMs: atMs })
  const move: CallEntry = { kind: 'move', event, to: 'completed', change }
  await admin.store.calls.append({ organizationId, test: false }, id, [move])
}

function begin(call: Call, startedAtMs: number): CallEntry {
  const event = newEvent('call.in_progress', { status: 'in_progress', occurredAtMs: startedAtMs })
  return { kind: 'move', event, to: 'in_progress', change: { startedAtMs } }
}

function entriesOf(call: Call, { entries, durationMs }: Conversation, startedAtMs: number): CallEntry[] {
  const endedAtMs = startedAtMs + durationMs
  const recording = (type: 'recording.recording' | 'recording.ready', occurredAtMs: number) =>
    newEvent(type, { occurredAtMs })
  const ringing: CallEntry = {
    kind: 'move',
    event: newEvent('call.ringing', { status: 'ringing', occurredAtMs: call.createdAtMs }),
    to: 'ringing',
    change: {},
  }
  const ended: CallEntry = {
    kind: 'move',
    event: newEvent('call.completed', {
      status: 'completed',
      occurredAtMs: endedAtMs,
      payload: { end_reason: 'user_hangup' },
    }),
    to: 'completed',
    change: { endedAtMs, endReason: 'user_hangup' },
  }
  return [
    ringing,
    begin(call, startedAtMs),
    {
      kind: 'recording',
      event: recording('recording.recording', startedAtMs + 100),
      status: 'recording',
      durationMs: null,
    },
    ...entries,
    ended,
    {
      kind: 'recording',
      event: recording('recording.ready', endedAtMs + 50),
      status: 'ready',
      durationMs: durationMs - 100,
    },
  ]
}

const stages = [
  {
    stage: 'stt',
    provider: 'deepgram',
    model: 'nova-3',
    unit: 'audio_milliseconds',
    amount: 21_000,
    costMicroUsd: 1505,
  },
  { stage: 'llm', provider: 'openai', model: 'gpt-4o-mini', unit: 'output_tokens', amount: 181, costMicroUsd: 412 },
  { stage: 'tts', provider: 'cartesia', model: 'sonic-2', unit: 'characters', amount: 402, costMicroUsd: 12_060 },
] as const

async function settleCosts(
  { admin, organizationId }: Place,
  call: Call,
  number: number,
  startedAtMs: number,
): Promise<void> {
  for (const { stage, provider, model, unit, amount, costMicroUsd } of stages) {
    const use = {
      provider,
      model,
      quantities: [{ unit, amount: amount + number }],
      costMicroUsd: costMicroUsd + number,
    }
    const id = `${stage}_${call.id}`
    const attempt = ledgerAttempt(`att_${id}`, { ...use, startedAtMs })
    const row = ledgerRow(organizationId, `req_${id}`, {
      ...use,
      stage,
      callId: call.id,
      startedAtMs,
      attempts: [attempt],
    })
    await settled(admin.store, { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 })
  }
}

function analysisOf(number: number) {
  return {
    ...({ status: 'completed', provider: 'openai', model: 'gpt-4o-mini', error: null, callback: null } as const),
    summary: `The caller asked for a spare tyre of size 700x25 and had two put aside. Call ${number}.`,
    outcome: number % 4 === 3 ? ('unresolved' as const) : ('resolved' as const),
    structuredData: {
      topics: ['spare tyre', 'opening hours'],
      sentiment: 'positive' as const,
      resolved: number % 4 !== 3,
      actionItems: ['Put two tyres aside until Saturday'],
      message: null,
    },
    customData: {},
    endpointData: {},
  }
}

const sampleRateHz = 16_000

/** Writes a tone for each speech: the caller is on the left channel, the agent on the right channel. */
function writeRecording(dataDir: string, callId: string, { spoken, durationMs }: Conversation): void {
  const samples = new Int16Array(Math.ceil((durationMs * sampleRateHz) / 1000) * 2)
  for (const speech of spoken) addTone(samples, speech)
  const bytes = Buffer.from(samples.buffer)
  const header = wavHeader({ encoding: 'pcm_s16le', sampleRateHz, channels: 2 }, bytes.length)
  mkdirSync(path.join(dataDir, 'recordings'), { recursive: true })
  writeFileSync(path.join(dataDir, 'recordings', `${callId}.wav`), Buffer.concat([header, bytes]))
}

function addTone(samples: Int16Array, { source, startMs, endMs }: Speech): void {
  const channel = source === 'user' ? 0 : 1
  const to = Math.floor((endMs * sampleRateHz) / 1000)
  for (let at = Math.floor((startMs * sampleRateHz) / 1000); at < to; at++) {
    // The loudness moves like syllables do, so that the waveform looks like speech.
    const loudness = 0.25 + 0.75 * Math.abs(Math.sin(at / 900) * Math.sin(at / 4100))
    samples[at * 2 + channel] = Math.round(9000 * loudness * Math.sin((2 * Math.PI * 180 * at) / sampleRateHz))
  }
}
