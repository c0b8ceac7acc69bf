/** Commands from one process to another that holds a call. */
import t from 'tap'
import type { Tenant } from '../../domain/access/organization.ts'
import { createLiveCalls } from '../../domain/sessions/reach-calls.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('the owner of a call gets its commands, once each, and no other process does', async (t) => {
  const url = await cluster.database()
  const [here, owner, third] = [await cluster.store(t, url), await cluster.store(t, url), await cluster.store(t, url)]
  const { id: organizationId } = await organization(here, 'a')
  const call = newCall(organizationId)
  await here.calls.insert(call, {})
  t.equal(await owner.calls.claim(call, call.id, owner.instanceId, null), true)

  const ran: [string, string, Tenant][] = []
  await here.callCommands.serve(() => t.fail('the sender does not run it'))
  await third.callCommands.serve(() => t.fail('a third process does not run it'))
  await owner.callCommands.serve((tenant, callId, { reason }) => {
    ran.push([callId, reason, tenant])
    return true
  })
  const calls = createLiveCalls({ live: { end: () => false }, calls: here.calls, commands: here.callCommands })
  t.equal(await calls.end(call, call.id, 'api_ended'), 'ending')
  const tenant = { organizationId, test: false }
  t.same(ran, [[call.id, 'api_ended', tenant]])

  t.equal(await calls.end({ ...tenant, test: true }, call.id, 'api_ended'), null, 'of another world')
  const at = { endedAtMs: 1, endReason: 'api_ended' as const }
  const move = { kind: 'move', event: newEvent('call.failed'), to: 'failed', change: at } as const
  t.same((await owner.calls.append(call, call.id, [move])).refused, [])
  t.equal(await calls.end(call, call.id, 'api_ended'), 'already_ended')
  t.equal(ran.length, 1)
})

t.test('a command that came while nobody listened is run when the owner listens', async (t) => {
  const url = await cluster.database()
  const [here, owner] = [await cluster.store(t, url), await cluster.store(t, url)]
  const call = newCall((await organization(here, 'a')).id)
  await here.calls.insert(call, {})
  await here.callCommands.serve(() => false)
  const sent = here.callCommands.send(call, call.id, owner.instanceId, {
    kind: 'end',
    reason: 'api_ended',
    note: 'closing time',
  })
  const ran: string[] = []
  await owner.callCommands.serve((_tenant, callId, { note }) => {
    ran.push(`${callId} ${note}`)
    return true
  })
  t.equal(await sent, true)
  t.same(ran, [`${call.id} closing time`])
})

t.test('a command that nobody takes is withdrawn', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const call = newCall((await organization(store, 'a')).id)
  await store.calls.insert(call, {})
  await store.callCommands.serve(() => t.fail('it is for another process'))
  t.equal(await store.callCommands.send(call, call.id, 'gone', { kind: 'end', reason: 'api_ended' }), false)
})
