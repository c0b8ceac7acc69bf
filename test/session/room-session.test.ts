/**
 * A session's media channel over a LiveKit room: the same frames as over a socket, callers who come and go, and the end
 * of the room.
 */
import t from 'tap'
import type { EnteredRoom, RoomEvents } from '../../domain/ports/media-rooms.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { createEnterRoom } from '../../handlers/session/rooms.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { settled, TestClock } from '../clock.ts'
import { caller } from '../domain/fakes.ts'
import { FakeSessions, sessionId } from './media-harness.ts'

type Frame = Record<string, unknown>

class FakeRoom implements EnteredRoom {
  readonly frames: Frame[] = []
  played = 0
  drops = 0
  expelled = 0
  hasLeft = false
  send(text: string) {
    this.frames.push(JSON.parse(text) as Frame)
    return Promise.resolve()
  }
  play() {
    this.played++
    return Promise.resolve()
  }
  drop() {
    this.drops++
  }
  expel() {
    this.expelled++
    return Promise.resolve()
  }
  leave() {
    this.hasLeft = true
    return Promise.resolve()
  }
  types() {
    return this.frames.map(({ type }) => type)
  }
}

class HeldFakes extends FakeSessions {
  isOver = false
  owner: 'nobody' | 'us' | 'another' = 'nobody'
  isLive() {
    return this.sink !== null && !this.isOver
  }
  hold() {
    if (this.owner === 'another') return Promise.resolve(false)
    this.owner = 'us'
    return Promise.resolve(true)
  }
  letGo() {
    this.owner = 'nobody'
    return Promise.resolve()
  }
}

function setup() {
  const clock = new TestClock()
  const sessions = new HeldFakes()
  const room = new FakeRoom()
  const logged: unknown[] = []
  const owner = caller({}, { scopes: ['platform'] })
  const state = {
    lives: true,
    deleted: [] as string[],
    seats: [] as unknown[],
    enterError: null as Error | null,
    revoke: null as (() => void) | null,
  }
  const opened: { events: RoomEvents | null } = { events: null }
  const note = (fields: object) => void logged.push(fields)
  const enter = createEnterRoom({
    rooms: {
      enter: (seat, rateHz, open) => {
        if (state.enterError !== null) return Promise.reject(state.enterError)
        state.seats.push({ ...seat, rateHz })
        opened.events = open(room)
        return Promise.resolve()
      },
      delete: (name) => {
        state.deleted.push(name)
        return Promise.resolve()
      },
    },
    sessions,
    keys: { find: () => Promise.resolve(state.lives ? owner : null) },
    clock,
    log: { info: note, warn: note, error: note },
    requestId: systemIds.request,
    watchGrant: (_grant, revoked) => {
      state.revoke = revoked
      return () => void (state.revoke = null)
    },
  })
  const claims = { sessionId, identity: 'user_1', organizationId: 'org_1', keyId: 'key_1', expiresAtMs: 0 }
  return {
    clock,
    sessions,
    room,
    logged,
    opened,
    state,
    owner,
    enter: () => enter(claims, 'room-1'),
    /** Lets a caller join the session over the room. */
    join: async () => {
      const session = (await enter(claims, 'room-1'))!
      const events = opened.events!
      events.joined()
      await settled()
      return { session, events, sink: sessions.sink! }
    },
  }
}

const text = (events: RoomEvents, frame: object) => events.text(JSON.stringify(frame))

t.test('a caller who joins a room gets the ready frame, and may speak and type as over a socket', async (t) => {
  const { join, room, state } = setup()
  const { events, sink } = await join()
  t.same(state.seats, [{ room: 'room-1', identity: 'user_1', rateHz: 16_000 }])
  t.match(room.frames, [{ type: 'ready', sessionId, identity: 'user_1', sampleRate: 16_000, resumed: false }])
  const received: number[] = []
  sink.onAudio = (samples) => received.push(...samples)
  events.audio(new Int16Array([1, 2, 3, -4]).subarray(1))
  t.same(received, [2, 3, -4])
  text(events, { type: 'user_message', text: 'Hello' })
  text(events, { type: 'dtmf', digits: '12#' })
  text(events, { type: 'tool_result', id: 'call_2', result: 'x' })
  text(events, { type: 'ping' })
  t.same(sink.calls, [
    ['userMessage', 'Hello'],
    ['dtmf', '12#'],
    ['toolResult', 'call_2', 'x', false],
  ])
  t.match(room.frames.slice(1), [
    { type: 'user_message_echo', text: 'Hello' },
    { type: 'error', code: 'UNKNOWN_TOOL_CALL', fatal: false },
    { type: 'pong' },
  ])
})

t.test("audio from the microphone does not end the wait for the client's overrides", async (t) => {
  const { enter, opened, sessions, room, clock } = setup()
  sessions.seat = { clientOverrides: ['firstMessage'] }
  await enter()
  const events = opened.events!
  events.joined()
  events.audio(new Int16Array(320))
  await settled()
  t.same(room.types(), [])
  text(events, { type: 'overrides', overrides: { agent: { firstMessage: 'Welcome' } } })
  await settled()
  t.same(room.types(), ['ready'])
  t.same(sessions.overrides, [{ firstMessage: 'Welcome' }])
  await clock.advance(5000)
  t.same(room.types(), ['ready'])
})

t.test('the server itself answers the frames `mark` and `clear`, and does not send them into the room', async (t) => {
  const { join, room, clock } = setup()
  const { sink } = await join()
  sink.transport.frame(new Int16Array(320))
  sink.transport.mark('1:20')
  await clock.advance(200)
  t.same(sink.calls, [['played', '1:20']])
  sink.transport.clear()
  await settled()
  t.same(sink.calls.at(-1), ['cleared', '1:20', 0])
  t.same(room.types(), ['ready'])
  t.equal(room.played, 1)
})

t.test('a fatal fault removes the caller from the room, and the caller may come back', async (t) => {
  const { join, room, clock, sessions } = setup()
  const { session, events, sink } = await join()
  events.text('{"type":"unknown"}')
  t.match(room.frames.at(-1), { type: 'error', code: 'INVALID_FRAME', fatal: true })
  await settled()
  t.same(sink.calls, [['gone']])
  text(events, { type: 'user_message', text: 'too late' })
  t.equal(room.expelled, 0, 'the frame is still on its way')
  await clock.advance(600)
  t.equal(room.expelled, 1)
  t.equal(session.look(), true)
  events.left()
  events.joined()
  await settled()
  t.match(room.frames.at(-2), { type: 'ready', resumed: true })
  t.match(room.frames.at(-1), { type: 'state' })
  t.equal(sessions.sink, sink)
})

t.test('the session is notified once that its caller has left, and a newer caller replaces the older', async (t) => {
  const { join, room } = setup()
  const { events, sink } = await join()
  events.left()
  events.left()
  t.same(sink.calls, [['gone']])
  events.joined()
  await settled()
  events.joined()
  await settled()
  t.same(
    room.frames.filter(({ type }) => type === 'ready').map(({ resumed }) => resumed),
    [false, true, true],
  )
})

t.test('after the end of the session the room is deleted, once the last frame has arrived', async (t) => {
  const { join, room, clock, sessions, state } = setup()
  const { session, events, sink } = await join()
  text(events, { type: 'end' })
  t.match(room.frames.at(-1), { type: 'end', reason: 'user_hangup' })
  await settled()
  sessions.isOver = true
  t.equal(session.look(), true)
  t.same(state.deleted, [])
  await clock.advance(600)
  t.equal(session.look(), false)
  await settled()
  t.same(state.deleted, ['room-1'])
  t.ok(room.hasLeft)
  t.equal(sessions.owner, 'us', 'the call was held, and is over')
  t.same(sink.calls, [['hangUp']])
})

t.test('if the caller of a session does not join in time, the server leaves the room', async (t) => {
  const { join, sessions, state } = setup()
  const { session, events } = await join()
  events.left()
  t.equal(session.look(), true)
  sessions.isOver = true
  t.equal(session.look(), false)
  await settled()
  t.same(state.deleted, ['room-1'])
})

t.test('the server waits up to 2 s for the report that a caller in the room has joined', async (t) => {
  const { enter, clock, sessions, state } = setup()
  const session = (await enter())!
  await clock.advance(1900)
  t.equal(session.look(), true)
  await clock.advance(200)
  t.equal(session.look(), false)
  await settled()
  t.same(state.deleted, ['room-1'])
  t.equal(sessions.owner, 'nobody')
})

t.test('a caller who cannot join now is removed, and any process may accept the call', async (t) => {
  const { join, room, clock, sessions, state } = setup()
  sessions.joinRefusal = new ResourceFault({ kind: 'call_not_live' })
  const { session } = await join()
  t.match(room.frames.at(-1), { type: 'error', code: 'RATE_LIMITED', fatal: true })
  await clock.advance(2000)
  t.equal(session.look(), false)
  await settled()
  t.equal(sessions.owner, 'nobody')
  t.same(state.deleted, ['room-1'])
})

t.test("if the agent loses the room's connection, the session waits, and the room can be entered again", async (t) => {
  const { join, room, sessions, enter } = setup()
  const { session, events, sink } = await join()
  events.lost()
  await settled()
  t.same(sink.calls, [['gone']])
  t.equal(session.look(), false)
  t.ok(room.hasLeft)
  t.equal(sessions.owner, 'us')
  t.ok(await enter())
})

t.test('joining is refused if another process has the call, or the key or organization is disabled', async (t) => {
  const { enter, state, sessions, owner } = setup()
  sessions.owner = 'another'
  t.equal(await enter(), null)
  sessions.owner = 'nobody'
  state.lives = false
  await t.rejects(enter(), ResourceFault, 'the key that made the session was revoked')
  state.lives = true
  owner.organization.isDisabled = true
  await t.rejects(enter(), ResourceFault, 'the organization was disabled')
  owner.organization.isDisabled = false
  sessions.refusal = new ResourceFault({ kind: 'call_not_live' })
  await t.rejects(enter(), ResourceFault)
  t.equal(sessions.owner, 'nobody')
  sessions.refusal = null
  state.enterError = new Error('the media server is away')
  await t.rejects(enter(), /away/)
  t.equal(sessions.owner, 'nobody', 'another process may try')
})

t.test("if a session's API key is revoked, the session's room is deleted, and checks of the key stop", async (t) => {
  const { join, room, clock, state } = setup()
  const { session, sink } = await join()
  state.revoke?.()
  t.match(room.frames.at(-1), { type: 'error', code: 'REVOKED', fatal: true })
  await clock.advance(500)
  await settled()
  t.same(state.deleted, ['room-1'])
  t.equal(session.look(), false)
  t.same(sink.calls, [['gone']])
  t.equal(state.revoke, null)
})

t.test('a frame that is too large for the data channel is dropped, and the session goes on', async (t) => {
  const { join, room, logged } = setup()
  const { events, sink } = await join()
  sink.transport.notify({ type: 'transcript', id: 't', text: 'ü'.repeat(40_000), isFinal: true })
  t.same(room.types(), ['ready'])
  t.equal(logged.length, 1)
  t.notMatch(JSON.stringify(logged), /ü/)
  text(events, { type: 'ping' })
  t.same(room.types(), ['ready', 'pong'])
})
