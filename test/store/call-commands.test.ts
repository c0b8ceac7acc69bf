/** Commands from one process to the process that runs a call. */
import t from 'tap'
import { answerMs, commandMs } from '../../domain/calls/live/commands.ts'
import { createLiveCalls } from '../../domain/calls/live/reach-calls.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

function fail(why: string): never {
  throw new Error(why)
}

t.test('only the process that owns a call gets its commands, each command once', async (t) => {
  const url = await cluster.database()
  const [here, owner, third] = [await cluster.store(t, url), await cluster.store(t, url), await cluster.store(t, url)]
  const { id: organizationId } = await organization(here, 'a')
  const call = newCall(organizationId)
  await here.calls.insert(call, {})
  t.equal(await owner.calls.claim(call, call.id, owner.instanceId, null), true)

  const ran: [string, string, Tenant][] = []
  await here.callCommands.listen(() => fail('the sender does not run it'))
  await third.callCommands.listen(() => fail('a third process does not run it'))
  await owner.callCommands.listen((tenant, callId, command) => {
    if (command.kind === 'joinState')
      return { isHere: true, isFull: true, isHandedOver: true, nodeUrl: 'https://node-1.example' }
    if (command.kind === 'end') ran.push([callId, command.reason, tenant])
    return null
  })
  const nowhere = { isHere: false, isFull: false, isHandedOver: false, nodeUrl: null }
  const calls = createLiveCalls({
    live: { end: () => false, joinState: () => nowhere },
    calls: here.calls,
    commands: here.callCommands,
  })
  t.same(await calls.joinState(call, call.id), {
    isHere: true,
    isFull: true,
    isHandedOver: true,
    nodeUrl: 'https://node-1.example',
  })
  t.equal(await calls.end(call, call.id, 'api_ended'), 'ending')
  const tenant = { organizationId, test: false }
  t.same(ran, [[call.id, 'api_ended', tenant]])

  t.equal(await calls.end({ ...tenant, test: true }, call.id, 'api_ended'), null, 'of another world')
  const at = { endedAtMs: 1, endReason: 'api_ended' as const }
  const move = { kind: 'move', event: newEvent('call.failed'), to: 'failed', change: at } as const
  t.same(await owner.calls.append(call, call.id, [move]), [])
  t.equal(await calls.end(call, call.id, 'api_ended'), 'already_ended')
  t.equal(ran.length, 1)
})

t.test("a command sent while the call's process does not listen runs when the process listens", async (t) => {
  const url = await cluster.database()
  const [here, owner] = [await cluster.store(t, url), await cluster.store(t, url)]
  const call = newCall((await organization(here, 'a')).id)
  await here.calls.insert(call, {})
  await here.callCommands.listen(() => null)
  const sent = here.callCommands.send(call, call.id, owner.instanceId, {
    kind: 'end',
    reason: 'api_ended',
    clientReason: 'closing time',
  })
  const ran: string[] = []
  await owner.callCommands.listen((_tenant, callId, command) => {
    ran.push(`${callId} ${command.kind === 'end' && command.clientReason}`)
    return null
  })
  t.same(await sent, { answer: null })
  t.same(ran, [`${call.id} closing time`])
})

t.test('a command that no process accepts is withdrawn', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const call = newCall((await organization(store, 'a')).id)
  await store.calls.insert(call, {})
  await store.callCommands.listen(() => fail('it is for another process'))
  t.equal(await store.callCommands.send(call, call.id, 'gone', { kind: 'end', reason: 'api_ended' }), null)
})

t.test('if the answer to a transfer command is lost, the transfer counts as started', async (t) => {
  const url = await cluster.database()
  const untilTaken: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    after(delayMs, run) {
      if (delayMs !== commandMs) return systemClock.after(delayMs === answerMs ? 1 : delayMs, run)
      untilTaken.push(run)
      return () => {}
    },
  }
  const here = await cluster.store(t, url, { clock })
  const owner = await cluster.store(t, url)
  const call = newCall((await organization(here, 'a')).id)
  await here.calls.insert(call, {})
  await here.callCommands.listen(() => null)
  const taken = new Promise<void>((resolve) => {
    void owner.callCommands.listen(() => {
      resolve()
      return new Promise(() => {})
    })
  })
  const command = { action: 'complete', transferId: 'transfer-1', recipientIdentity: null } as const
  const sent = here.callCommands.send(call, call.id, owner.instanceId, { kind: 'transfer', command })
  await taken
  for (const run of untilTaken) run()
  t.same(await sent, { answer: null })
})
