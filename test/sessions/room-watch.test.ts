/** Tests how a process notices that a session's caller has joined the LiveKit room. */
import t from 'tap'
import { type ActiveRoom, type RoomOccupant, RoomWatch } from '../../domain/calls/live/room-watch.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { settled, TestClock } from '../clock.ts'

const lookMs = 250

class Occupant implements RoomOccupant {
  isIn = true
  closed = 0
  look() {
    return this.isIn
  }
  close() {
    this.closed++
    return Promise.resolve()
  }
}

function setup() {
  const clock = new TestClock()
  const existing = new Set<string>()
  const state = {
    known: [] as ActiveRoom[],
    asked: [] as (readonly string[])[],
    entered: [] as string[],
    deleted: [] as string[],
    logged: [] as string[],
    isAway: false,
    occupants: new Map<string, Occupant>(),
    enter: (): RoomOccupant | null | Error => new Occupant(),
    /** Entering a room takes until this promise resolves. */
    isReady: Promise.resolve(),
  }
  const note = (_fields: object, message: string) => void state.logged.push(message)
  const watch = new RoomWatch({
    rooms: {
      existing: (rooms) => {
        state.asked.push(rooms)
        if (state.isAway) return Promise.reject(new Error('away'))
        return Promise.resolve(new Set(rooms.filter((room) => existing.has(room))))
      },
      delete: (room) => {
        state.deleted.push(room)
        existing.delete(room)
        return Promise.resolve()
      },
    },
    enter: async (_claims, room) => {
      state.entered.push(room)
      await state.isReady
      const entered = state.enter()
      if (entered instanceof Occupant) state.occupants.set(room, entered)
      if (entered instanceof Error) throw entered
      return entered
    },
    calls: () => Promise.resolve(state.known),
    clock,
    log: { info: note, warn: note, error: note },
  })
  const room = (name: string, { ttlMs = 60_000, isElsewhere = false } = {}): ActiveRoom => {
    const expiresAtMs = clock.nowMs() + ttlMs
    const claims = { sessionId: name, identity: 'user', organizationId: 'org_1', keyId: 'key_1', expiresAtMs }
    return { room: name, claims, isElsewhere }
  }
  /** Lets time pass, and checks the rooms as often as the product's loop does. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += lookMs) {
      await clock.advance(lookMs)
      await watch.look()
      await settled()
    }
  }
  return { clock, watch, state, existing, room, pass }
}

t.test('a room is entered once it exists, and one request to the media server covers all rooms', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  await pass(1000)
  t.same(state.asked, [], 'nobody waits, so nothing is asked')
  watch.add(room('a'))
  watch.add(room('b'))
  watch.add(room('b'))
  await pass(500)
  t.same(state.asked, [
    ['a', 'b'],
    ['a', 'b'],
  ])
  t.same(state.entered, [])
  existing.add('b')
  await pass(250)
  t.same(state.entered, ['b'])
  await pass(500)
  t.same(state.entered, ['b'], 'a room is entered once')
  t.same(state.asked.at(-1), ['a'])
})

t.test('a room that takes long to enter is entered only once', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  let open = () => {}
  state.isReady = new Promise((resolve) => (open = resolve))
  watch.add(room('a'))
  existing.add('a')
  await pass(2000)
  t.same(state.entered, ['a'])
  open()
  await pass(2000)
  t.same(state.entered, ['a'])
})

t.test('a room that the process has left is entered again if it exists again', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  watch.add(room('a'))
  existing.add('a')
  await pass(250)
  state.occupants.get('a')!.isIn = false
  await pass(500)
  t.same(state.entered, ['a', 'a'])
})

t.test('rooms of other processes are entered too, unless another process has the session', async (t) => {
  const { state, existing, room, pass } = setup()
  state.known = [room('waits'), room('held', { isElsewhere: true })]
  existing.add('waits').add('held')
  await pass(6000)
  t.same(state.entered, ['waits'])
  t.notOk(state.asked.some((rooms) => rooms.includes('held')))
  // The session's process has died, and its call was ended.
  state.known = []
  state.enter = () => new ResourceFault({ kind: 'call_not_live' })
  await pass(6000)
  t.same(state.deleted, ['held'])
})

t.test('the room of an ended session is deleted each time a caller comes back', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  state.enter = () => new ResourceFault({ kind: 'call_not_live' })
  watch.add(room('a'))
  for (const times of [1, 2]) {
    existing.add('a')
    await pass(500)
    t.equal(state.deleted.length, times)
  }
})

t.test("the server stops watching a room when the room's token has expired", async (t) => {
  const { watch, state, room, pass } = setup()
  watch.add(room('a', { ttlMs: 1000 }))
  await pass(60_000)
  t.same(state.asked.at(-1), ['a'], 'a media server takes a token for a minute longer')
  await pass(40_000)
  const asked = state.asked.length
  await pass(5000)
  t.equal(state.asked.length, asked)
})

t.test('entering a room is retried every 2 s, or every 5 s if another process has the session', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  watch.add(room('a'))
  existing.add('a')
  const triesIn = async (ms: number) => {
    const before = state.entered.length
    await pass(ms)
    return state.entered.length - before
  }
  state.enter = () => new Error('the network')
  t.equal(await triesIn(20_000), 10, 'each 2 s')
  state.enter = () => new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
  await pass(5000)
  t.equal(await triesIn(20_000), 4, 'each 5 s')
  state.enter = () => null
  await pass(5000)
  t.equal(await triesIn(20_000), 4)
  t.same(state.deleted, [])
})

t.test('an outage of the media server is logged once, and so is the next outage', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  watch.add(room('a'))
  state.isAway = true
  await pass(5000)
  t.match(state.logged, [/does not answer/])
  state.isAway = false
  existing.add('a')
  await pass(500)
  t.match(state.logged, [/does not answer/, /answers again/])
  t.same(state.entered, ['a'])
})

t.test('when the process ends, it leaves its rooms and enters no others', async (t) => {
  const { watch, state, existing, room, pass } = setup()
  watch.add(room('a'))
  watch.add(room('b'))
  existing.add('a')
  await pass(250)
  await watch.close()
  t.equal(state.occupants.get('a')!.closed, 1)
  existing.add('b')
  await pass(500)
  t.same(state.entered, ['a'])
})
