/**
 * Two processes with one database share sessions in LiveKit rooms. `make test-all LANE=livekit` installs the server.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { dispose } from '@livekit/rtc-node'
import { RoomServiceClient } from 'livekit-server-sdk'
import t from 'tap'
import { call } from '../platform/setup.ts'
import { startParley } from '../process/parley.ts'
import { loopbackProviders } from '../session/voice-session.ts'
import { TestCluster } from '../store/cluster.ts'
import { RoomCaller, ticketOf } from './room-caller.ts'
import { apiKey, apiSecret, skipped, startLiveKit } from './server.ts'

t.test('two processes share the sessions in LiveKit rooms', { skip: skipped }, async (t) => {
  const cluster = await TestCluster.start()
  const livekit = await startLiveKit()
  const rooms = new RoomServiceClient(livekit.url.replace('ws', 'http'), apiKey, apiSecret)
  const env = {
    ...livekit.env,
    DATABASE_URL: await cluster.database('empty'),
    PARLEY_PROVIDERS: loopbackProviders,
    PARLEY_MASTER_KEY: 'm'.repeat(32),
    PARLEY_IDEMPOTENCY_LEASE_MS: '3000',
  }
  const first = await startParley(env)
  const second = await startParley(env)
  t.teardown(async () => {
    await first.remove()
    await second.remove()
    await livekit.stop()
    await cluster.stop()
    await dispose()
  })
  const settings = { recording: false }

  t.test('only one of two processes enters a LiveKit room as the agent', async (t) => {
    const tickets = [await ticketOf(first, settings), await ticketOf(second, settings), await ticketOf(first, settings)]
    // After this wait each process knows the other's sessions.
    await sleep(6000)
    const callers = await Promise.all(tickets.map((ticket) => RoomCaller.enter(ticket)))
    await sleep(1000)
    for (const { ticket, shown } of callers) {
      const participants = await rooms.listParticipants(ticket.roomName)
      t.same(participants.map(({ identity }) => identity).sort(), [`agent_${ticket.roomName}`, ticket.identity].sort())
      t.equal(shown.filter(({ type }) => type === 'ready').length, 1)
      t.notOk(shown.some(({ type }) => type === 'error'))
    }
    // Each process can end a call in the other process.
    for (const { sessionId } of callers) t.equal((await call(second, 'POST', `/v1/calls/${sessionId}/end`)).status, 200)
    for (const caller of callers) {
      await caller.left()
      t.match(caller.shown.at(-1), { type: 'end', reason: 'api_ended' })
    }
  })

  t.test('if a process dies, another process takes over its sessions and closes the rooms of its calls', async (t) => {
    const begun = await RoomCaller.join(first, settings)
    const waiting = await ticketOf(first, settings)
    await first.kill()
    const caller = await RoomCaller.enter(waiting)
    t.match(await caller.shows(({ type }) => type === 'ready'), { resumed: false })
    await caller.hangUp()
    // If the first call's agent ran in the second process, the second process ends the call. Otherwise the agent died
    // with the first process, and the caller may be gone already.
    if (!begun.isDisconnected) await begun.left(40_000)
    const row = (await call(second, 'GET', `/v1/calls/${begun.sessionId}`)).json<{ end_reason: string }>()
    t.equal(row.end_reason, 'worker_lost')
  })
})
