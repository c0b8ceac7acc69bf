/** Tests the webhook events for the steps of a transfer. Uses a real Postgres. */
import t from 'tap'
import { TestCluster } from '../store/cluster.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { all, append, connected, exampleOf, faultOf, openWorld } from './call-events.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('call.status is sent for a transfer, with the status of the transfer', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: all })
  const call = await world.call()
  const transfer = transferOf(call)
  await append(world, call, connected(), transferred(transfer))
  const [, sent] = await world.events(call)
  t.match(sent, { type: 'call.status', body: { event_type: 'transfer.cancelled', status: 'cancelled' } })
  t.match(sent?.body['transfer'], { id: transfer.id, status: 'cancelled', next_transfer_id: null, fallback: null })
  t.equal(faultOf('call.status', sent?.body ?? {}), null)
  const example = exampleOf('call.status', 'transferred')
  t.same(Object.keys(sent?.body ?? {}), Object.keys(example), 'the fields of the example in the spec')
})

t.test('call.status is sent for each step of a transfer that connects the recipient, with its event', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: ['call.status'] })
  const call = await world.call()
  const open = { ...transferOf(call), completedAtMs: null }
  const steps = ['requested', 'screening', 'bridging', 'completed'] as const
  await append(world, call, connected())
  for (const status of steps) {
    const completedAtMs = status === 'completed' ? open.createdAtMs : null
    await append(world, call, transferred({ ...open, status, completedAtMs }))
  }
  const [, ...sent] = await world.events(call)
  t.same(
    sent.map(({ body }) => [body['event_type'], body['status']]),
    steps.map((status) => [`transfer.${status}`, status]),
  )
  const stored = (await world.store.callRecord.events(call, call.id, 0)).filter(({ type }) => /^transfer/.test(type))
  t.same(
    sent.map(({ id }) => id),
    stored.map(({ id }) => id),
    'each step and its webhook have one id',
  )
  for (const { body } of sent) {
    const { status } = body
    t.equal(faultOf('call.status', body), null, `transfer.${String(status)}`)
    const completedAt = status === 'completed' ? String : null
    const transfer = { id: open.id, status, failure_cause: null, completed_at: completedAt, fallback: null }
    t.match(body['transfer'], transfer)
  }
})

t.test('call.status of a failed transfer has the cause, the next attempt and the fallback', async (t) => {
  const world = await openWorld(t, cluster)
  await world.endpoint({ events: ['call.status'] })
  const call = await world.call()
  const [first, last] = [transferOf(call), transferOf(call)]
  const fallback = {
    action: 'return_to_assistant' as const,
    message: 'Nobody is free.',
    takeMessagePrompt: null,
    holdAudioUrl: null,
    voicemailDetected: false,
  }
  const busy = { ...first, status: 'failed' as const, failureCause: 'busy' as const }
  const late = { ...last, status: 'failed' as const, failureCause: 'no_answer' as const, fallback }
  await append(world, call, connected(), transferred(busy, last.id), transferred(late))
  const [, ...sent] = await world.events(call)
  t.match(
    sent.map(({ body }) => body),
    [
      { failure_cause: 'busy', transfer: { failure_cause: 'busy', next_transfer_id: last.id, fallback: null } },
      {
        failure_cause: 'no_answer',
        transfer: {
          failure_cause: 'no_answer',
          next_transfer_id: null,
          fallback: { action: 'return_to_assistant', message: 'Nobody is free.', voicemail_detected: false },
        },
      },
    ],
  )
  for (const { body } of sent) t.equal(faultOf('call.status', body), null)
})
