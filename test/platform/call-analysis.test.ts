/**
 * Tests a call's analysis by an LLM: when the LLM is asked, how its answer is used, and when fixed rules make the call
 * report instead.
 */
import t from 'tap'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent, newTurn, pipeline } from '../calls/call.ts'
import { until } from '../process/machine.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { call, faultOf, startAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { admin } = await startAdministered(t, { PARLEY_PROVIDERS: stubProviders(stub) })

const extractionFields = [
  { name: 'day', type: 'enum' as const, description: 'The day.', options: ['today', 'tomorrow'] },
  { name: 'guests', type: 'number' as const, description: 'How many.' },
]
const llm = { ...pipeline.llm, model: 'main:chat' }

type Report = {
  version: number
  summary: string
  outcome: string
  analysis_status: string
  analysis_provider: string | null
  analysis_model: string | null
  analysis_error: string | null
  structured_data: Record<string, unknown>
  custom_data: Record<string, unknown>
  cost_breakdown: { metric: string }[]
}

async function endedCall(name: string, more: Partial<Call> = {}, hasSpoken = true) {
  const acme = await admin.organization(name)
  const stored = newCall(acme.id, { keyId: acme.keyId, pipeline: { ...pipeline, llm, extractionFields }, ...more })
  const atMs = Date.now()
  const start = newEvent('call.in_progress', { occurredAtMs: atMs })
  const end = newEvent('call.completed', { occurredAtMs: atMs + 1 })
  const entries: CallEntry[] = [
    { kind: 'move', event: start, to: 'in_progress', change: { startedAtMs: atMs } },
    { kind: 'turn', turn: newTurn({ source: hasSpoken ? 'user' : 'agent', text: 'A table for four today. k4n4ry' }) },
    { kind: 'move', event: end, to: 'completed', change: { endedAtMs: atMs + 1, endReason: 'user_hangup' } },
  ]
  await admin.store.calls.insert(stored, {})
  await admin.store.calls.append(stored, stored.id, entries)
  const target = stored.test ? { ...acme, ...(await admin.key(acme.id, { test: true })) } : acme
  const path = `/v1/calls/${stored.id}/report`
  return {
    finalize: (body?: object) => call(target, 'POST', `${path}/finalize`, body),
    report: async () => (await call(target, 'GET', path)).json<Report>(),
    all: async () => (await call(target, 'GET', `/v1/calls/${stored.id}/events`)).text,
    events: async () => {
      const { events } = (await call(target, 'GET', `/v1/calls/${stored.id}/events`)).json<{
        events: { event_type: string }[]
      }>()
      return events.map(({ event_type }) => event_type).filter((type) => type.startsWith('analysis.'))
    },
  }
}

const answer = {
  summary: 'A table for four was booked.',
  outcome: 'resolved',
  topics: ['booking'],
  sentiment: 'positive',
  resolved: true,
  action_items: ['Keep the table.'],
  message: null,
  fields: { day: 'today', guests: '4' },
}

/** Counts the LLM requests that analyse calls. */
const asked = () => stub.requests.filter(({ body }) => body.includes('k4n4ry')).length

t.test('an LLM writes the call report once for simultaneous requests, and again if a request forces it', async (t) => {
  const { finalize, report, events } = await endedCall('analysed')
  t.match(await report(), { version: 1, analysis_status: 'pending', summary: '', structured_data: {} })
  stub.behave({ kind: 'ok', text: JSON.stringify(answer) })
  const before = asked()
  const both = await Promise.all([finalize(), finalize()])
  t.equal(asked() - before, 1, 'one at a time, and the second waits for the same')
  for (const each of both) t.match(each.json(), { summary: answer.summary, outcome: 'resolved' })
  const read = await report()
  t.match(read, {
    version: 1,
    analysis_status: 'completed',
    analysis_provider: 'main',
    analysis_model: 'chat',
    analysis_error: null,
    structured_data: {
      topics: ['booking'],
      sentiment: 'positive',
      resolved: true,
      action_items: ['Keep the table.'],
      message: null,
    },
    custom_data: { day: 'today', guests: 4 },
  })
  await finalize()
  t.equal(asked() - before, 1, 'without flags what is stored is answered')
  stub.behave({ kind: 'ok', text: JSON.stringify({ ...answer, summary: 'Again.' }) })
  t.match((await finalize({ forceAnalysis: true })).json(), { summary: 'Again.' })
  t.match(await report(), { version: 2, summary: 'Again.' })
  t.same(await events(), ['analysis.pending', 'analysis.completed', 'analysis.completed'])
  await until('the report has its costs', async () => (await report()).cost_breakdown.length > 0)
  t.ok(
    (await report()).cost_breakdown.some(({ metric }) => metric === 'output_tokens'),
    'it is billed to the call',
  )
})

t.test("if the LLM's answer is invalid, fixed rules make the report; finalizeCallReport retries the LLM", async (t) => {
  const { finalize, report } = await endedCall('unusable')
  stub.behave({ kind: 'ok', text: '{"summary": ""}' })
  t.match((await finalize()).json(), { outcome: 'completed' })
  const failed = await report()
  t.match(failed, { analysis_status: 'failed', custom_data: { day: null, guests: null } })
  t.ok(failed.analysis_error)
  t.notMatch(JSON.stringify(failed.analysis_error), 'k4n4ry')
  stub.behave({ kind: 'ok', text: JSON.stringify(answer) })
  await finalize()
  t.match(await report(), { analysis_status: 'completed', version: 2 })
})

const ruled: [title: string, more: Partial<Call>, hasSpoken?: boolean][] = [
  [
    'the embedded LLM is pinned',
    { pipeline: { ...pipeline, llm: { ...llm, model: 'local:scripted' }, extractionFields } },
  ],
  [
    'the agent allows the embedded LLM alone',
    {
      pipeline: {
        ...pipeline,
        extractionFields,
        constraints: { allowedProviders: { stt: [], llm: ['local'], tts: [] } },
      },
    },
  ],
  ['the call was made by a test key', { test: true }],
  ['the key of the call is gone', { keyId: 'key_0123456789012345678901' }],
  ['nobody has spoken', {}, false],
]
for (const [title, more, hasSpoken] of ruled)
  t.test(`the call report is made by fixed rules, without an LLM: ${title}`, async (t) => {
    const { finalize, report, events } = await endedCall(title, more, hasSpoken)
    const before = asked()
    t.equal((await finalize()).status, 200)
    t.match(await report(), { analysis_status: 'heuristic', version: 1, custom_data: { day: null, guests: null } })
    await finalize()
    t.match(await report(), { version: 1 }, 'the same rules are no new version')
    t.equal(asked(), before)
    t.same(await events(), ['analysis.pending', 'analysis.heuristic'])
  })

t.test('call reports are written in the background, without a request to finalizeCallReport', async (t) => {
  stub.behave({ kind: 'ok', text: JSON.stringify(answer) })
  const { report } = await endedCall('pending')
  await until('it is analysed', async () => (await report()).analysis_status !== 'pending')
  t.match(await report(), { analysis_status: 'completed' })
})

t.test('finalizeCallReport refuses unknown fields in its body', async (t) => {
  const { finalize } = await endedCall('fields')
  t.match(faultOf(await finalize({ force: true })), { status: 400, paths: ['/force'] })
  // Without this, the pending call would be analysed during the next test, and would use up the next test's answer.
  await finalize()
})

t.test('the LLM detects a request for a callback, if the agent has the tool schedule_callback', async (t) => {
  const atMs = Date.now() + 3 * 3_600_000
  const callback = { at: new Date(atMs).toISOString(), to: '+4915123456789', reason: 'prices', instructions: null }
  const source = { kind: 'builtin' as const, name: 'schedule_callback' as const, config: { maxDaysAhead: 1 } }
  const tool = { name: 'schedule_callback', description: 'd', parameters: {}, source, preToolSpeech: 'auto' as const }
  const withTool = { pipeline: { ...pipeline, llm, extractionFields: [], tools: [tool] } }
  const text = JSON.stringify({ ...answer, callback })
  const shown = async (name: string, more: Partial<Call>, said = text) => {
    // The LLM's answer is set before the call exists, because the server looks for ended calls by itself.
    stub.behave({ kind: 'ok', text: said })
    const { finalize, report, all } = await endedCall(name, more)
    await finalize()
    return { finalize, report: (await report()) as Report & { scheduled_callback: object | null }, read: report, all }
  }
  const made = await shown('asks to be called back', withTool)
  t.match(made.report, {
    outcome: 'callback_scheduled',
    scheduled_callback: { status: 'scheduled', to_number: callback.to, scheduled_at: callback.at, reason: 'prices' },
  })
  t.match(await made.all(), /"analysis.completed".*"callback.scheduled"/s)
  t.match(
    stub.requests.findLast(({ body }) => body.includes('k4n4ry'))?.body,
    /It is now \d{4}-.*"callback":/s,
    'the LLM knows the time and the field',
  )
  stub.behave({ kind: 'ok', text })
  await made.finalize({ forceAnalysis: true })
  const again = (await made.read()) as Report & { scheduled_callback: object }
  t.same({ ...again.scheduled_callback, summary: '' }, { ...made.report.scheduled_callback, summary: '' }, 'once')
  t.equal(again.version, 2)

  const without = await shown('no tool', {})
  t.match(without.report, { outcome: 'resolved', scheduled_callback: null })
  const tooLate = { ...callback, at: new Date(atMs + 86_400_000).toISOString() }
  const refused = [tooLate, { ...callback, to: '+15555550100' }, { ...callback, at: 'at nine' }, null, 'now', 5]
  for (const [at, wrong] of refused.entries()) {
    const { report } = await shown(`wrong ${at}`, withTool, JSON.stringify({ ...answer, callback: wrong }))
    t.match(report, { analysis_status: 'completed', outcome: 'resolved', scheduled_callback: null })
  }
})
