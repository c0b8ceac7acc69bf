import t from 'tap'
import type { Call } from '../../domain/records/call.ts'
import { pipeline } from '../calls/call.ts'
import { caller } from '../domain/fakes.ts'
import { failure, setup } from './setup.ts'

t.test("the first join claims the call and a concurrency lease, and the session's end returns the lease", async (t) => {
  const all = setup({ limits: 1 })
  const seat = await all.admit()
  t.match(seat, { isJoined: false, identity: 'ada', sampleRate: 24_000 })
  const joined = await seat.join({ prompt: 'Be kind.' })
  t.same(all.claimed, ['s_1'])
  const sink = joined.begin(all.transport)
  t.match(all.started[0]?.call.pipeline, { systemPrompt: 'Be kind.' })
  t.match(all.stored, [{ systemPrompt: 'Be kind.' }])
  sink.userMessage('hello')
  t.same(all.log, ['userMessage hello'])
  t.match(await failure(all.join('s_2')), { data: { kind: 'too_many_at_once' } }, 'the session has the one lease')
  all.finish()
  t.equal(all.registry.size, 0)
  await all.join('s_2')
})

t.test('if a call cannot be claimed, the concurrency lease is released', async (t) => {
  const all = setup({ limits: 1, claim: false })
  t.match(await failure(all.join()), { data: { kind: 'call_not_live' } })
  t.match(await failure(all.join()), { data: { kind: 'call_not_live' } })
  t.equal(all.registry.size, 0)
})

t.test("a session that is over, expired, busy or another user's cannot be joined", async (t) => {
  const refusals: [string, Partial<Call>, object][] = [
    ['over', { status: 'completed' }, { data: { kind: 'call_not_live' } }],
    ['not joined in time', { expiresAtMs: 1_700_000_000_000 }, { data: { kind: 'call_not_live' } }],
    ['of another identity', { identity: 'eve' }, { data: { kind: 'not_found' } }],
    ['just taken by this process', { ownerId: 'this', status: 'in_progress' }, { kind: 'overloaded' }],
  ]
  for (const [what, over, expected] of refusals) t.match(await failure(setup({ over }).admit()), expected, what)
  const held = setup({ over: { ownerId: 'other', status: 'in_progress' } })
  t.same(await held.admitted(), { ownerId: 'other' }, 'another process has it')
  const full = setup({ sessionsMax: 1 })
  await full.join()
  t.match(await failure(full.admit('s_2')), { kind: 'overloaded' }, 'the process has as many as it takes')
  const draining = setup()
  draining.registry.drain()
  t.match(await failure(draining.admit()), { kind: 'overloaded' })
})

t.test('for 20 s after the socket was lost the user may rejoin the session', async (t) => {
  const all = setup()
  const sink = await all.join()
  sink.gone()
  await all.clock.advance(19_999)
  const seat = await all.admit()
  t.equal(seat.isJoined, true)
  const joined = await seat.join({})
  t.equal(joined.resumed, true)
  const second = joined.begin(all.transport)
  await all.clock.advance(60_000)
  t.same(all.log, ['gone', 'back'], 'nobody ends a session that came back')
  sink.userMessage('old')
  sink.gone()
  second.userMessage('new')
  t.same(all.log, ['gone', 'back', 'userMessage new'], 'the older socket is ignored')
  second.gone()
  await all.clock.advance(20_000)
  t.same(all.log.slice(3), ['gone', 'end user_disconnected'])
})

t.test("at most four people may join a caller's session before their tokens expire, and may rejoin", async (t) => {
  const all = setup()
  const { person } = all
  t.match(await failure(person('join_0')), { data: { kind: 'call_not_live' } }, 'nobody has joined the session')
  t.match(all.registry.joinState({ organizationId: 'org_1', test: false }, 's_1'), { isHere: false })
  await all.join()
  const sit = async (identity: string, expiresAtMs?: number) => {
    const joined = await (await person(identity, expiresAtMs)).join({})
    return { resumed: joined.resumed, sink: joined.begin(all.transport) }
  }
  t.match(await person('join_1'), { identity: 'join_1', clientOverrides: [], isJoined: true })
  const first = await sit('join_1')
  t.equal(first.resumed, false)
  for (const identity of ['join_2', 'join_3']) await sit(identity)
  const seats = [await person('join_4'), await person('join_5')]
  t.match(all.registry.joinState({ organizationId: 'org_1', test: false }, 's_1'), { isHere: true, isFull: false })
  const stranger = { organizationId: 'org_2', test: false }
  t.match(all.registry.joinState(stranger, 's_1'), { isHere: false }, 'of another organization')
  const [fourth] = seats
  ;(await fourth?.join({}))?.begin(all.transport)
  t.match(all.registry.joinState({ organizationId: 'org_1', test: false }, 's_1'), { isFull: true })
  t.match(await failure(person('join_5')), { data: { kind: 'too_many_at_once', limit: 'session' } })
  t.match(await failure(Promise.resolve().then(() => seats[1]?.join({}))), { data: { kind: 'too_many_at_once' } })
  t.equal((await sit('join_1')).resumed, true, 'who is there may come back')
  first.sink.gone()
  first.sink.hangUp()
  await all.clock.advance(20_000)
  t.notOk(all.log.includes('left join_1'), 'the older socket is ignored')
  const back = await sit('join_1')
  back.sink.gone()
  await all.clock.advance(19_999)
  t.notOk(all.log.includes('left join_1'))
  await all.clock.advance(1)
  t.ok(all.log.includes('left join_1'))
  t.equal((await sit('join_1', 0)).resumed, false, 'a token that was used in time is good while the session lives')
  back.sink.hangUp()
  t.match(await failure(person('join_6', all.clock.nowMs())), { data: { kind: 'call_not_live' } }, 'too late')
  all.finish()
  t.match(await failure(person('join_1')), { data: { kind: 'call_not_live' } })
})

t.test('while the record of an ended conversation is written, no user may join', async (t) => {
  const all = setup()
  await all.join()
  const tenant = { organizationId: 'org_1', test: false }
  const seat = await all.person('join_1')
  t.match(all.registry.joinState(tenant, 's_1'), { isHere: true })
  all.endConversation()
  t.match(all.registry.joinState(tenant, 's_1'), { isHere: false })
  t.match(await failure(all.person('join_2')), { data: { kind: 'call_not_live' } })
  t.match(await failure(Promise.resolve().then(() => seat.join({}))), { data: { kind: 'call_not_live' } })
})

t.test('if a transfer begins while a person joins, a new person is refused and a joined person rejoins', async (t) => {
  const all = setup()
  await all.join()
  const known = await (await all.person('join_1')).join({})
  known.begin(all.transport)
  const again = await (await all.person('join_1')).join({})
  const stranger = await (await all.person('join_2')).join({})
  all.beginTransfer()
  const refusal = await failure(Promise.resolve().then(() => stranger.begin(all.transport)))
  t.match(refusal, { data: { kind: 'call_not_live', because: 'transferring' } })
  again.begin(all.transport)
  t.same(all.log, ['join join_1', 'join join_1'])
})

t.test('a joined person who has hung up cannot rejoin the session', async (t) => {
  const all = setup()
  await all.join()
  const sit = async () => (await (await all.person('join_1')).join({})).begin(all.transport)
  const older = await sit()
  const newer = await sit()
  older.hangUp()
  newer.gone()
  await all.clock.advance(20_000)
  t.ok(all.log.includes('left join_1'))
  const again = await sit()
  again.hangUp()
  t.match(await failure(all.person('join_1')), { data: { kind: 'call_not_live' } })
  t.ok(await all.person('join_2'), 'another one may')
})

t.test('a person whose join throws an error does not count as joined', async (t) => {
  const all = setup()
  await all.join()
  all.breakJoins(true)
  for (let at = 0; at < 5; at++) {
    const joined = await (await all.person(`join_${at}`)).join({})
    t.throws(() => joined.begin(all.transport), { message: 'no room' })
  }
  t.match(all.registry.joinState({ organizationId: 'org_1', test: false }, 's_1'), { isFull: false })
})

t.test(
  'a release that failed is repeated until the call is free, but not after the call is claimed again',
  async (t) => {
    const all = setup({ start: 'fails' })
    const joined = await (await all.admit()).join({})
    all.breakReleases(true)
    t.throws(() => joined.begin(all.transport), { message: 'no route' })
    await all.clock.advance(0)
    const tenant = { organizationId: 'org_1', test: false }
    await all.registry.hold(tenant, 's_2')
    await all.registry.letGo(tenant, 's_2')
    await all.registry.hold(tenant, 's_3')
    await all.registry.letGo(tenant, 's_3')
    t.same(all.released, [])
    await all.registry.releaseAgain()
    t.same(all.released, [], 'the database is away still')
    all.breakReleases(false)
    await all.registry.hold(tenant, 's_3')
    await all.registry.releaseAgain()
    t.same(all.released.toSorted(), ['s_1', 's_2'])
    await all.registry.releaseAgain()
    t.equal(all.released.length, 2)
  },
)

t.test('if two sockets join for the first time at once, both get the same session', async (t) => {
  const all = setup({ limits: 1 })
  const seats = [await all.admit(), await all.admit()]
  const [first, second] = await Promise.all(seats.map((seat) => seat.join({})))
  t.same(all.claimed, ['s_1'], 'it is claimed once, with one lease')
  // The second join has the newer socket, so the first join's socket is closed and never begins.
  t.equal(second?.resumed, false)
  const sink = second?.begin(all.transport)
  sink?.userMessage('hello')
  t.same(all.log, ['userMessage hello'])
  t.equal(first?.resumed, true)
  all.finish()
  t.equal(all.registry.size, 0)
})

t.test('a socket that joins but never begins does not affect the active socket', async (t) => {
  const all = setup()
  const [early, late] = [await all.admit(), await all.admit()]
  const sink = (await early.join({})).begin(all.transport)
  await late.join({})
  sink.userMessage('still here')
  sink.gone()
  t.same(all.log, ['userMessage still here', 'gone'])
  await all.clock.advance(20_000)
  t.same(all.log.slice(2), ['end user_disconnected'])
})

t.test("if a conversation cannot begin, its call ends and the session's lease is released", async (t) => {
  const all = setup({ limits: 1, start: 'fails' })
  const joined = await (await all.admit()).join({})
  t.throws(() => joined.begin(all.transport), { message: 'no route' })
  t.equal(all.registry.size, 0)
  await all.clock.advance(0)
  t.same(all.released, ['s_1'])
  t.same(all.endedUnowned, ['s_1 pipeline_failed'])
  await (await all.admit('s_2')).join({})
})

t.test('if a join throws an unexpected error, the call ends, but not if a limit refuses the join', async (t) => {
  const all = setup({ limits: 1, claim: 'fails' })
  t.match(await failure(all.join()), { message: 'a defect' })
  await all.clock.advance(0)
  t.same(all.endedUnowned, ['s_1 pipeline_failed'])
  const full = setup({ limits: 0 })
  t.match(await failure(full.join()), { data: { kind: 'too_many_at_once' } })
  t.same(full.endedUnowned, [])
})

t.test('if the end of a call that did not begin is not stored, it is stored later', async (t) => {
  for (const all of [setup({ start: 'fails' }), setup({ claim: 'fails' })]) {
    all.breakEnds(true)
    await failure(all.join())
    await all.clock.advance(0)
    await all.registry.releaseAgain()
    t.same(all.endedUnowned, [], 'the disk of the database is full')
    all.breakEnds(false)
    await all.registry.releaseAgain()
    await all.registry.releaseAgain()
    t.same(all.endedUnowned, ['s_1 pipeline_failed'])
  }
})

t.test("an override that no provider supports is dropped, and the session's engines are started", async (t) => {
  const all = setup({ over: { pipeline: { ...pipeline, clientOverrides: ['prompt', 'language'] } } })
  const joined = await (await all.admit()).join({ prompt: 'Be kind.', language: 'xx' })
  t.same(joined.unserved, ['language'])
  joined.begin(all.transport)
  t.match(all.started[0]?.call.pipeline, { systemPrompt: 'Be kind.', intent: { language: 'en' } })
  t.equal(all.warmed.length, 1)
})

t.test("of two simultaneous joins, only one gets the organization's last free session", async (t) => {
  const all = setup({ maxSessions: 1 })
  const seats = [await all.admit('s_1'), await all.admit('s_2')]
  await Promise.allSettled(seats.map((seat) => seat.join({})))
  t.ok(all.claimed.length - all.released.length <= 1)
  t.equal(all.registry.size, all.claimed.length - all.released.length)
  const last = setup({ maxSessions: 1 })
  const late = await last.admit('s_3')
  await last.join('s_1')
  t.match(await failure(late.join({})), { data: { kind: 'too_many_at_once' } })
  t.same(last.released, ['s_3'])
  t.match(await failure(last.join('s_2')), { data: { kind: 'too_many_at_once' } })
  t.same(last.claimed, ['s_1', 's_3'], 'it is refused before its socket is opened')
})

t.test('if the server became full or began to end after the upgrade, it accepts no further session', async (t) => {
  const full = setup({ sessionsMax: 1 })
  const [first, second] = [await full.admit('s_1'), await full.admit('s_2')]
  ;(await first.join({})).begin(full.transport)
  t.match(await failure(second.join({})), { kind: 'overloaded' })
  const draining = setup()
  const seat = await draining.admit()
  draining.registry.drain()
  t.match(await failure(seat.join({})), { kind: 'overloaded' })
  t.same(draining.claimed, [])
})

t.test('an end request while the caller joins ends the call, whether the join succeeds or not', async (t) => {
  const tenant = { organizationId: 'org_1', test: false }
  const other = { organizationId: 'org_2', test: false }
  const held = setup()
  await held.registry.hold(tenant, 's_1')
  t.equal(held.registry.end(other, 's_1', 'api_ended'), false)
  t.equal(held.registry.end(tenant, 's_1', 'api_ended'), true)
  await held.join()
  t.same(held.log, ['end api_ended'], 'the caller came')
  const left = setup()
  await left.registry.hold(tenant, 's_1')
  left.registry.end(tenant, 's_1', 'api_ended')
  left.breakReleases(true)
  await left.registry.letGo(tenant, 's_1')
  t.same(left.endedUnowned, [])
  left.breakReleases(false)
  await left.registry.releaseAgain()
  t.same([left.released, left.endedUnowned], [['s_1'], ['s_1 api_ended']], 'the caller left before')
  t.equal(left.registry.end(tenant, 's_1', 'api_ended'), false)
  const taken = setup()
  const joined = await (await taken.admit()).join({})
  t.equal(taken.registry.end(tenant, 's_1', 'api_ended'), true)
  joined.begin(taken.transport)
  t.same(taken.log, ['end api_ended'], 'the call was taken')
})

t.test('a call ends if its organization is disabled while the call is claimed', async (t) => {
  const reason = 'api_ended The operator has disabled the organization.'
  const session = setup({ disables: true })
  await session.join()
  t.same(session.log, [`end ${reason}`])
  const phone = setup({ disables: true })
  const ends: string[] = []
  const call = { id: 's_1', organizationId: 'org_1', test: false, pipeline } as Call
  await phone.registry.take({ call, secrets: {} }, caller(), {
    end: (...words) => void ends.push(words.join(' ')),
    conversationOver() {},
  })
  t.same(ends, [reason])
})

t.test('a session can be ended only by its tenant', async (t) => {
  const all = setup()
  await all.join()
  t.equal(all.registry.end({ organizationId: 'org_2', test: false }, 's_1', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: true }, 's_1', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: false }, 's_9', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: false }, 's_1', 'api_ended'), true)
  const closed = all.registry.close('server_shutdown', 5000)
  all.finish()
  await closed
  t.same(all.log, ['end api_ended', 'end server_shutdown'])
})

t.test('if another process has ended a call, only the session of this call ends', async (t) => {
  const all = setup()
  await all.join('s_1')
  await all.registry.endOver()
  t.same(all.log, [])
  const tenant = { organizationId: 'org_1', test: false }
  for (const id of ['s_1', 's_2']) all.endedElsewhere.push({ ...tenant, id, endReason: 'worker_lost' })
  await all.registry.endOver()
  t.same(all.log, ['end worker_lost'])
})

t.test('if a claim gets no answer, or the sessions cannot be counted, the call is released', async (t) => {
  const unanswered = setup({ claim: 'away' })
  t.match(await failure(unanswered.join()), { kind: 'store_unreachable' })
  await unanswered.registry.releaseAgain()
  t.same(unanswered.released, ['s_1'])
  const uncounted = setup({ limits: 1, maxSessions: 1 })
  const seat = await uncounted.admit()
  uncounted.breakCounts()
  t.match(await failure(seat.join({})), { kind: 'store_unreachable' })
  t.same(uncounted.released, ['s_1'])
  t.match(await failure(seat.join({})), { kind: 'store_unreachable' }, 'the lease was given back')
  t.same([...unanswered.endedUnowned, ...uncounted.endedUnowned], [])
})
