/** Starts and stores sessions and calls, and compares the responses about them with the contract's examples. */
import { join } from 'node:path'
import type { Test } from 'tap'
import type { CallEntry } from '../../domain/records/call.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { newCall, newEvent } from '../calls/call.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { TestServer } from '../server.ts'
import { Page, type Started } from '../session/voice-session.ts'
import { type Examples, idOf, type Received, type Sent } from './run.ts'
import { storeCalls } from './stored-calls.ts'

export async function compareCalls(
  t: Test,
  examples: Examples,
  { parley, admin }: { parley: TestServer; admin: Administration },
): Promise<void> {
  const acme = await admin.organization('with calls')
  const send = (sent: Sent, id?: string) =>
    examples.send(acme, { ...sent, ...(id !== undefined && { values: { id } }) })
  const equal = (received: Received, example: string) => examples.compare(t, received, { example })
  const agent = idOf(await send({ operation: 'createAgent', request: 'least' }))
  equal(await send({ operation: 'listSessions' }), 'listSessions 200: none')
  const { calls } = admin.store
  const { live, transcript, store } = await storeCalls(calls, acme.id, agent, acme.keyId)
  const ofLive = await send({ operation: 'getCall' }, live)
  examples.compare(t, ofLive, { example: 'getCall 200: live', renamed: { 'of a test': 'our server' } })
  equal(await send({ operation: 'getCallReport' }, live), 'NotFound: report')
  equal(await send({ operation: 'getCallRecording' }, live), 'NotFound: recording')
  equal(await send({ operation: 'finalizeCallReport', request: 'again' }, live), 'CallConflict: live')
  equal(await send({ operation: 'getSessionTranscript' }, transcript), 'getSessionTranscript 200: turns')
  const queued = await store()
  equal(await send({ operation: 'getSession' }, queued), 'getSession 200: queued')
  equal(
    await send({ operation: 'listSessions', parameters: ['limit', 'status'], values: { status: 'queued' } }),
    'listSessions 200: one',
  )
  equal(await send({ operation: 'webJoinCall', request: 'named' }, queued), 'CallConflict: notLive')
  equal(await send({ operation: 'endCall', request: 'reason' }, queued), 'endCall 200: ending')
  equal(await send({ operation: 'endCall' }, queued), 'endCall 200: before')
  equal(await send({ operation: 'listCallEvents' }, queued), 'listCallEvents 200: cancelled')
  equal(await send({ operation: 'getCallReport' }, queued), 'getCallReport 200: heuristic')
  equal(await send({ operation: 'finalizeCallReport' }, queued), 'finalizeCallReport 200: ruled')

  const started = await send({ operation: 'createSession', request: 'agent', fields: { agentId: agent } })
  const renamed = { [new URL(parley.url).host]: '127.0.0.1:8080' }
  examples.compare(t, started, { example: 'createSession 201: agent', renamed })
  const adHoc = await send({ operation: 'createSession', request: 'adHoc' })
  examples.compare(t, adHoc, { example: 'createSession 201: adHoc', renamed })
  const page = new Page(JSON.parse(adHoc.body.toString()) as Started)
  await page.first('ready')
  const joined = await send({ operation: 'webJoinCall', request: 'named' }, page.id)
  examples.compare(t, joined, { example: 'webJoinCall 200: joins', renamed })
  await page.close()
  const sql = openDatabase(parley)
  await sql`update phone_numbers set organization_id = ${acme.id}`
  const dialing = 'createPhoneSession 200: dialing'
  const ofAgent = { operation: 'createPhoneSession', request: 'agent', fields: { agentId: agent } }
  for (const sent of [ofAgent, { operation: 'createPhoneSession', request: 'adHoc' }]) {
    const phoned = await send(sent)
    equal(phoned, dialing)
    const { sessionId } = JSON.parse(phoned.body.toString()) as { sessionId: string }
    await send({ operation: 'endCall' }, sessionId)
  }
  for (const [to, example] of [
    ['+15005550024', 'away'],
    ['+15005550001', 'refused'],
  ])
    equal(await send({ operation: 'createPhoneSession', request: 'adHoc', fields: { to } }), `DialFailed: ${example}`)
  const repeated = { operation: 'createPhoneSession', request: 'adHoc', headers: { 'idempotency-key': 'order-1042' } }
  const { sessionId: repeatedId } = JSON.parse((await send(repeated)).body.toString()) as { sessionId: string }
  await send({ operation: 'endCall' }, repeatedId)
  equal(await send({ ...repeated, fields: { metadata: {} } }), 'PhoneNumberConflict: conflict')
  await sql`update idempotency_keys set answer_status = null where operation = 'createPhoneSession'`
  equal(await send(repeated), 'PhoneNumberConflict: running')
  await sql`update phone_numbers set direction = 'inbound'`
  await sql.end()
  equal(await send({ operation: 'createPhoneSession', request: 'adHoc' }), 'PhoneNumberConflict: direction')
  const poor = await admin.organization('without credit', { creditMicroUsd: 0 })
  examples.compare(t, await examples.send(poor, { operation: 'createSession', request: 'adHoc' }), {
    example: 'PaymentRequired: credit',
  })

  const short = await admin.organization('with calls of an agent')
  const owned = { operation: 'createAgent', request: 'least' }
  const values = { id: idOf(await examples.send(short, owned)) }
  await admin.store.calls.insert(newCall(short.id, { agentId: values.id }), {})
  examples.compare(t, await examples.send(short, { operation: 'listAgentCalls', values }), {
    example: 'listAgentCalls 200: one',
  })
  const late = newCall(short.id, { expiresAtMs: Date.now() })
  await admin.store.calls.insert(late, {})
  await until('the session has expired', async () => (await calls.find(late, late.id))?.status !== 'queued')
  const ended = await examples.send(short, { operation: 'streamSession', values: { id: late.id } })
  examples.compare(t, ended, { example: 'streamSession 200: ended', parts: [''] })

  const recorded = newCall(short.id)
  await admin.store.calls.insert(recorded, {})
  const steps = (['recording', 'uploading', 'ready'] as const).map((status): CallEntry => {
    return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: 1000 }
  })
  await admin.store.calls.append(recorded, recorded.id, steps)
  const file = await createRecordingFiles(join(parley.dataDir, 'recordings')).create(recorded.id)
  await file.append(new Uint8Array(500))
  await file.close()
  const ofRecorded = { values: { id: recorded.id } }
  const link = await examples.send(short, { operation: 'getCallRecording', ...ofRecorded })
  examples.compare(t, link, { example: 'getCallRecording 200: link', renamed })
  const presigned = await examples.send(short, {
    operation: 'getCallRecording',
    parameters: ['expires_in'],
    ...ofRecorded,
  })
  examples.compare(t, presigned, { example: 'getCallRecording 200: presigned', renamed })
  const beyond = { operation: 'getCallRecordingAudio', ...ofRecorded, headers: { range: 'bytes=500-' } }
  examples.compare(t, await examples.send(short, beyond), { example: 'RangeNotSatisfiable: range' })
}
