/** Tests transfers over the simulated carrier, on a test clock. The numbers behave as docs/simulator.md lists. */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { eventsOf, hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())

type Transfer = {
  id: string
  summary: string | null
  status: string
  failure_cause: string | null
  label: string | null
  transfer_to: string
  created_at: string
  metadata: Record<string, unknown>
}
type Progress = Transfer & {
  routing_attempts: Transfer[]
  next_transfer: Transfer | null
  fallback: { action: string; voicemail_detected: boolean } | null
}

/** Places a call to a person. Returns the call's id once the person talks with the agent. */
async function talking(to = '+15005550006'): Promise<string> {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId })
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

const transfer = (id: string, kind: 'blind' | 'warm', body: object) =>
  call(phones, 'POST', `/v1/calls/${id}/transfers/${kind}`, body)

const transfersOf = (row: PhoneCallRow) => row['transfers'] as Transfer[]
const statuses = (row: PhoneCallRow) => transfersOf(row).map(({ status, failure_cause }) => failure_cause ?? status)
const isDecided = (row: PhoneCallRow) =>
  row.status !== 'transferring' && ['completed', 'failed', 'cancelled'].includes(transfersOf(row).at(-1)?.status ?? '')

const notesOf = ({ transcript }: PhoneCallRow) =>
  transcript.entries.flatMap(({ source, text }) => (source === 'system' ? [text] : []))

async function transferEvents(id: string): Promise<string[]> {
  const events = await eventsOf(phones, id)
  return events.map(({ event_type }) => event_type).filter((type) => /^(transfer|call)\./.test(type))
}

t.test('transferCallBlind: the caller talks to the recipient until the recipient hangs up', async (t) => {
  const id = await talking()
  // The recipient hangs up 2 s after the two are connected.
  const answer = await transfer(id, 'blind', { to: '+15005550020', metadata: { order: '4711' } })
  t.equal(answer.status, 201, answer.text)
  const row = answer.json<Transfer>()
  t.match(row, { status: 'requested', transfer_to: '+15005550020', failure_cause: null, metadata: { order: '4711' } })
  t.match(row, { session_id: id, organization_id: /^org_/, kind: 'blind', from_room_name: `room-${id}` })
  t.match(row, { consultation_room_name: null, caller_participant_identity: String, completed_at: null })
  t.match(row, {
    recipient_participant_identity: `transfer_${row.id}`,
    outbound_trunk_id: null,
    screening_prompt: null,
  })
  t.match((await transfer(id, 'blind', { to: '+15005550006' })).json(), { code: 'TRANSFER_IN_PROGRESS' })
  const ended = await callWhen(phones, id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'transferred', report: { outcome: 'transferred' } })
  t.same(statuses(ended), ['completed'])
  t.match(transfersOf(ended), [{ created_at: row.created_at, updated_at: /Z$/, completed_at: /Z$/ }])
  t.same(notesOf(ended), ['The caller is on hold while the call is transferred.', 'The call was transferred.'])
  const events = await transferEvents(id)
  t.same(events.slice(events.indexOf('call.transferring')), [
    'call.transferring',
    'transfer.requested',
    'transfer.bridging',
    'transfer.completed',
    'call.in_progress',
    'call.completed',
  ])
  const conflict = await call(phones, 'POST', `/v1/calls/${id}/transfers/${row.id}/cancel`, {})
  t.match(conflict.json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'completed' } })
})

t.test('if a blind transfer fails, the caller is back with the agent', async (t) => {
  const id = await talking()
  t.equal((await transfer(id, 'blind', { to: '+15005550003' })).status, 201)
  const back = await callWhen(phones, id, isDecided)
  t.same(statuses(back), ['busy'])
  const [begun, failed] = ['The caller is on hold while the call is transferred.', 'The call was not transferred: ']
  t.same(notesOf(back), [begun, `${failed}the line is busy.`])
  t.equal(back.status, 'in_progress')
  const refused = await transfer(id, 'blind', { to: '+15005550001' })
  t.equal(refused.status, 502, refused.text)
  t.match(refused.json(), { code: 'CARRIER_DIAL_FAILED', details: { sessionId: id } })
  const again = await callWhen(phones, id, isDecided)
  t.same(statuses(again), ['busy', 'carrier_error'])
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
})

t.test('if the bridge is reported too late, the caller is back with the agent', async (t) => {
  // The carrier's events for both legs come 5 s late, after the time limit for connecting the two parties.
  const id = await talking('+15005550023')
  t.equal((await transfer(id, 'blind', { to: '+15005550023' })).status, 201)
  const back = await callWhen(phones, id, isDecided)
  t.same(statuses(back), ['carrier_error'])
  t.equal(back.status, 'in_progress')
  const before = back.transcript.entries.length
  const said = await callWhen(phones, id, ({ transcript }) => transcript.entries.length > before + 1)
  t.equal(said.status, 'in_progress', 'the leg of the caller is open')
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
})

t.test('transferCallWarm: a recipient accepts the caller by key or by voice', async (t) => {
  for (const to of ['+15005550017', '+15005550015']) {
    const id = await talking()
    // A busy machine understands the spoken acceptance late, so the recipient gets more time.
    const asked = { screeningPrompt: 'A customer asks for a bicycle.', screeningTimeout: 60 }
    const answer = await transfer(id, 'warm', { to, ...asked })
    t.equal(answer.status, 201, answer.text)
    const { id: attempt, ...progress } = answer.json<Progress>()
    t.match(progress, {
      status: 'requested',
      fallback: null,
      next_transfer: null,
      kind: 'warm',
      screening_prompt: asked.screeningPrompt,
    })
    t.match(progress, { consultation_room_name: `room-${attempt}` })
    const done = await callWhen(phones, id, isDecided)
    t.same(statuses(done), ['completed'], to)
    t.equal(done.status, 'in_progress')
    await call(phones, 'POST', `/v1/calls/${id}/end`)
    t.match(await callWhen(phones, id, hasEnded), { status: 'completed' })
    t.ok((await transferEvents(id)).includes('transfer.screening'))
  }
})

t.test('destinations are tried in order until a recipient accepts', async (t) => {
  const id = await talking()
  const destinations = [
    { to: '+15005550001', label: 'Refused' },
    { to: '+15005550018', label: 'Declines by key' },
    { to: '+15005550016', label: 'Declines by voice' },
    { to: '+15005550017', label: 'Accepts' },
  ]
  const answer = await transfer(id, 'warm', { destinations, screeningTimeout: 60 })
  t.equal(answer.status, 201, answer.text)
  const done = await callWhen(phones, id, isDecided)
  t.same(statuses(done), ['carrier_error', 'declined', 'declined', 'completed'])
  t.same(
    transfersOf(done).map(({ label }) => label),
    destinations.map(({ label }) => label),
  )
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})

t.test('if a recipient cannot be reached, leaves or is silent, the next recipient is called', async (t) => {
  // This caller says nothing and does not hang up.
  const id = await talking('+15005550011')
  const rows = [
    ['+15005550024', 'carrier_error'],
    ['+15005550003', 'busy'],
    ['+15005550004', 'declined'],
    ['+15005550005', 'carrier_error'],
    ['+15005550021', 'declined'],
    ['+15005550022', 'declined'],
    ['+15005550011', 'no_answer'],
  ] as const
  const destinations = rows.map(([to]) => ({ to }))
  const answer = await transfer(id, 'warm', { destinations, screeningTimeout: 15 })
  t.equal(answer.status, 201, answer.text)
  const isLast = (row: PhoneCallRow) => transfersOf(row).length === rows.length && isDecided(row)
  const done = await callWhen(phones, id, isLast)
  t.same(
    transfersOf(done).map(({ transfer_to: to, failure_cause: cause }) => [to, cause]),
    rows,
  )
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})

t.test("if no recipient accepts the call, the transfer's fallback action runs", async (t) => {
  const returned = await talking()
  const answer = await transfer(returned, 'warm', {
    to: '+15005550001',
    fallback: { message: 'Nobody is free right now.' },
  })
  t.match(answer.json<Progress>(), { status: 'failed', fallback: { action: 'return_to_assistant' } }, answer.text)
  const said = await callWhen(phones, returned, ({ transcript }) =>
    transcript.entries.some(({ text }) => text.includes('Nobody is free right now.')),
  )
  t.equal(said.status, 'in_progress')
  await call(phones, 'POST', `/v1/calls/${returned}/end`)

  const ends = await talking()
  await transfer(ends, 'warm', {
    to: '+15005550004',
    fallback: { strategy: 'end_call', message: 'Please call again.' },
  })
  const ended = await callWhen(phones, ends, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'agent_hangup' })
  t.same(statuses(ended), ['declined'])
})

t.test('cancelTransfer declines and completeTransfer accepts in place of the recipient', async (t) => {
  const id = await talking()
  const destinations = [{ to: '+15005550002' }, { to: '+15005550019' }]
  const first = (await transfer(id, 'warm', { destinations })).json<Progress>()
  const early = await call(phones, 'POST', `/v1/calls/${id}/transfers/${first.id}/complete`, {})
  t.match(early.json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'requested' } }, 'it still rings')
  const cancelled = await call(phones, 'POST', `/v1/calls/${id}/transfers/${first.id}/cancel`, {
    tryNext: true,
    reason: 'Nobody there.',
    summary: 'The first one is out.',
  })
  const progress = cancelled.json<Progress>()
  t.match(progress, {
    id: first.id,
    status: 'cancelled',
    metadata: { cancel_reason: 'Nobody there.' },
    summary: 'The first one is out.',
  })
  t.match(progress.next_transfer, { transfer_to: '+15005550019' })
  t.same(
    progress.routing_attempts.map(({ id }) => id),
    [first.id, progress.next_transfer?.id],
    'the oldest first',
  )
  t.not(progress.next_transfer?.summary, 'The first one is out.', 'the summary belongs to one attempt')
  const second = progress.next_transfer?.id ?? ''
  const older = await call(phones, 'POST', `/v1/calls/${id}/transfers/${first.id}/complete`, {})
  t.match(older.json(), { code: 'TRANSFER_STATE_CONFLICT' })
  await callWhen(phones, id, (row) => transfersOf(row).at(-1)?.status === 'screening')
  const other = await call(phones, 'POST', `/v1/calls/${id}/transfers/${second}/complete`, {
    recipientParticipantIdentity: `transfer_${first.id}`,
  })
  t.equal(other.status, 400)
  const completed = await complete(id, second, { summary: 'A new bicycle.' })
  t.match(completed.json(), { id: second, summary: 'A new bicycle.' }, completed.text)
  t.match((await complete(id, second, { summary: 'Too late.' })).json(), { summary: 'A new bicycle.' })
  const done = await callWhen(phones, id, isDecided)
  t.same(statuses(done), ['cancelled', 'completed'])
  t.same(
    transfersOf(done).map(({ summary }) => summary),
    ['The first one is out.', 'A new bicycle.'],
  )
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  const ended = await callWhen(phones, id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'api_ended', report: { outcome: 'transferred' } })
})

const complete = (id: string, transferId: string, body: object = {}) =>
  call(phones, 'POST', `/v1/calls/${id}/transfers/${transferId}/complete`, body)

t.test(
  'completeTransfer changes nothing once the two parties are being connected, also after the end of the call',
  async (t) => {
    const id = await talking()
    await transfer(id, 'warm', { to: '+15005550001' })
    const destinations = [{ to: '+15005550003' }, { to: '+15005550019' }]
    await transfer(id, 'warm', { destinations, screeningTimeout: 60 })
    const isScreened = (row: PhoneCallRow) => transfersOf(row).at(-1)?.status === 'screening'
    const attempt = transfersOf(await callWhen(phones, id, isScreened)).at(-1)?.id ?? ''
    t.match((await complete(id, attempt)).json(), { id: attempt }, 'in screening')
    await callWhen(phones, id, isDecided)
    const done = await complete(id, attempt)
    t.equal(done.status, 200, done.text)
    const row = done.json<Transfer>()
    t.match(row, { id: attempt, status: 'completed' })
    const all = transfersOf(await callWhen(phones, id, isDecided))
    t.same(row, all.at(-1), 'its row, unchanged')
    await call(phones, 'POST', `/v1/calls/${id}/end`)
    await callWhen(phones, id, hasEnded)
    const after = await complete(id, attempt, { recipientParticipantIdentity: `transfer_${attempt}` })
    t.equal(after.status, 200, after.text)
    t.same(after.json(), row)
    const other = await complete(id, attempt, { recipientParticipantIdentity: 'transfer_other' })
    t.match(
      other.json<{ issues: { path: string }[] }>().issues,
      [{ path: '/recipientParticipantIdentity' }],
      other.text,
    )
  },
)

t.test('a second completeTransfer changes nothing while the two parties are being connected', async (t) => {
  // The carrier's events for both legs come 5 s late, so the attempt stays in the state `bridging` for a while.
  const id = await talking('+15005550023')
  const { id: attempt } = (await transfer(id, 'warm', { to: '+15005550023', screeningTimeout: 60 })).json<Progress>()
  await callWhen(phones, id, (row) => transfersOf(row).at(-1)?.status === 'screening')
  t.match((await complete(id, attempt)).json(), { status: 'bridging' })
  const again = await complete(id, attempt)
  t.equal(again.status, 200, again.text)
  t.match(again.json(), { id: attempt, status: 'bridging' })
  t.same(statuses(await callWhen(phones, id, isDecided)), ['carrier_error'])
  t.match((await complete(id, attempt)).json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'failed' } })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})

t.test('completeTransfer of a blind transfer is a conflict in each state of the transfer', async (t) => {
  const id = await talking()
  // The recipient's phone rings for 20 s before it is answered.
  const { id: attempt } = (await transfer(id, 'blind', { to: '+15005550007' })).json<Transfer>()
  t.match((await complete(id, attempt)).json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'requested' } })
  await callWhen(phones, id, isDecided)
  const done = await complete(id, attempt)
  t.equal(done.status, 409, done.text)
  t.match(done.json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'completed' } })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
  t.match((await complete(id, attempt)).json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'completed' } })
})

t.test('if the caller leaves while waiting, the recipient is not connected', async (t) => {
  const id = await talking()
  await transfer(id, 'warm', { destinations: [{ to: '+15005550002' }, { to: '+15005550017' }] })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  const ended = await callWhen(phones, id, hasEnded)
  t.same(statuses(ended), ['caller_hung_up'])
})

t.test("the error for a wrong setting of a transfer has the setting's path", async (t) => {
  const id = await talking()
  const cases = [
    ['blind', { to: '+15550001111' }, '/to'],
    ['warm', {}, '/destinations'],
    ['warm', { destinations: [{ to: '+15005550006' }, { to: '+15550001111' }] }, '/destinations/1/to'],
    ['warm', { to: '+15005550006', from: '+15005550199' }, '/from'],
    ['blind', { to: '+15005550006', participantIdentity: 'someone' }, '/participantIdentity'],
    ['warm', { to: '+15005550006', fallback: { holdAudioUrl: 'https://10.0.0.1/a.wav' } }, '/fallback/holdAudioUrl'],
    ['warm', { to: '+15005550006', fallback: { holdAudioUrl: 'ftp://shop.example/a.wav' } }, '/fallback/holdAudioUrl'],
  ] as const
  for (const [kind, body, path] of cases) {
    const answer = await transfer(id, kind, body)
    t.equal(answer.status, 400, answer.text)
    t.match(answer.json<{ issues: { path: string }[] }>().issues, [{ path }])
  }
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
  t.match((await transfer(id, 'blind', { to: '+15005550006' })).json(), { code: 'CALL_NOT_LIVE' })
})

for (const mode of ['agent', 'carrier'] as const)
  t.test(`AMD mode ${mode}: a voicemail that answers a transfer does not count as the recipient`, async (t) => {
    for (const to of ['+15005550008', '+15005550009']) {
      const id = await talking()
      const voicemailDetection = { mode, timeoutSeconds: 60 }
      const answer = await transfer(id, 'warm', { to, voicemailDetection, screeningTimeout: 120 })
      t.equal(answer.status, 201, answer.text)
      const back = await callWhen(phones, id, isDecided)
      t.same(statuses(back), ['voicemail'], to)
      t.match(transfersOf(back), [{ voicemail_detected: true }])
      const found = (await eventsOf(phones, id)).filter(({ event_type, payload }) => {
        return event_type === 'carrier.machine_detection' && payload['leg'] === 'recipient'
      })
      t.match(found, [{ payload: { mode, result: 'machine' } }])
      await call(phones, 'POST', `/v1/calls/${id}/end`)
      t.equal((await callWhen(phones, id, hasEnded)).status, 'completed')
    }
  })

t.test('if voicemail detection reports a person, the person is connected to the caller', async (t) => {
  const id = await talking()
  await transfer(id, 'warm', { to: '+15005550015', voicemailDetection: { mode: 'agent' }, screeningTimeout: 60 })
  t.same(statuses(await callWhen(phones, id, isDecided)), ['completed'])
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  await callWhen(phones, id, hasEnded)
})
