/** Tests how a phone line's events are named in a call record, and their fields. */
import t from 'tap'
import { applyEntries } from '../../domain/calls/apply.ts'
import type { LegEventBody } from '../../domain/ports/phone-line.ts'
import { type CallEntry, type CallEvent, eventTypes, type RecordingStatus } from '../../domain/records/call.ts'
import { newCall } from '../calls/call.ts'
import { openDesk } from './desk.ts'

const forwarding = {
  ...{ forwardedFrom: null, originalTo: null, redirectingNumber: null },
  ...{ diversion: [], historyInfo: [], privacy: [] },
}
const initiated: LegEventBody = { type: 'initiated', direction: 'outgoing', from: null, to: '+15005550006', forwarding }
const hangup: LegEventBody = { type: 'hangup', sipCode: 486, cause: 'user_busy', by: 'callee' }
/** The names of carrier events in the contract, each with the phone line's event. Null if no phone line reports it. */
const names: readonly [name: string, body: LegEventBody | null][] = [
  ['carrier.initiated', initiated],
  ['carrier.ringing', { type: 'ringing' }],
  ['carrier.answered', { type: 'answered' }],
  ['carrier.bridged', { type: 'bridged' }],
  ['carrier.hangup', hangup],
  ['carrier.machine_detection', { type: 'machine_detection', result: 'human' }],
  ['carrier.dtmf', { type: 'dtmf', digit: '1' }],
  ['carrier.stream_started', { type: 'stream_started' }],
  ['carrier.stream_stopped', { type: 'stream_stopped' }],
  ['carrier.stream_failed', { type: 'stream_failed', reason: 'closed' }],
  ['carrier.recording_saved', null],
  ['carrier.recording_failed', null],
]

t.test('the types of carrier events are exactly the types in the contract', (t) => {
  const ours = eventTypes.filter((type) => type.startsWith('carrier.'))
  t.same([...ours].sort(), names.map(([name]) => name).sort())
  t.end()
})

for (const [name, body] of names)
  if (body !== null)
    t.test(`the phone line's event ${body.type} is stored as the call event ${name}`, async (t) => {
      const desk = openDesk()
      const dialed = await desk.dialled({ telephony: { amd: { mode: 'carrier' } } })
      if (body.type === 'machine_detection') desk.join()
      await desk.happens(body, dialed.legId)
      await desk.passes()
      t.match(desk.events(name), [{ type: name, provider: 'carrier' }])
    })

t.test('a recording of a phone call ends with one recording event and one carrier event', (t) => {
  t.same(endedRecording('ready', 'outbound'), ['media recording.ready 10', 'media carrier.recording_saved 11'])
  t.same(endedRecording('failed', 'outbound'), ['media recording.failed 10', 'media carrier.recording_failed 11'])
  t.same(endedRecording('ready', 'browser'), ['media recording.ready 10'])
  t.same(endedRecording('uploading', 'outbound'), ['media recording.uploading 10'])
  t.end()
})

t.test('if the end of a recording is stored twice, the carrier event is not repeated', (t) => {
  const call = { ...phoned, recordingStatus: 'ready' as const }
  t.same(applyEntries(call, [entryOf('ready')], () => false, 20).events, [])
  t.end()
})

t.test('if the requested region has no trunk, the carrier.initiated event has the requested region', async (t) => {
  const asked = { telephony: { region: 'europe' } }
  for (const [connectionId, payload] of [
    ['sip_1', { direction: 'outbound', requested_region: 'europe', region: null }],
    [null, { direction: 'outbound' }],
  ] as const) {
    const desk = openDesk({ connectionId })
    const { legId } = await desk.dialled(asked)
    await desk.happens(initiated, legId)
    await desk.passes()
    t.same(desk.events('carrier.initiated')[0]?.payload, payload, connectionId ?? 'a carrier')
  }
})

const phone = {
  ...{ direction: 'outbound' as const, from: '+15005550100', to: '+15005550006', forwardedFrom: null },
  ...{ phoneNumberId: 'pn_1', legId: 'leg_1' },
}
const phoned = newCall('org_1', { kind: 'outbound', phone, recordingStatus: 'recording' })

const eventOf = (status: RecordingStatus): CallEvent => ({
  ...{ id: 'event_1', provider: 'media', type: `recording.${status}`, status: null },
  ...{ failureCause: null, occurredAtMs: 10, payload: {} },
})

function entryOf(status: RecordingStatus): CallEntry {
  const event = eventOf(status)
  return { kind: 'recording', event, lineEventId: 'event_2', status, durationMs: null }
}

function endedRecording(status: RecordingStatus, kind: 'outbound' | 'browser'): string[] {
  const call = kind === 'browser' ? { ...phoned, kind, phone: null } : phoned
  const { events } = applyEntries(call, [entryOf(status)], () => false, 20)
  return events.map(({ provider, type, occurredAtMs }) => `${provider} ${type} ${occurredAtMs}`)
}
