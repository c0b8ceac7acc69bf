/** `parley listen --chaos` adds faults to events, and the same seed gives the same faults. */
import t from 'tap'
import { Chaos, type ChaosEvent, type ChaosFault, type Sending } from '../../cli/listen-chaos.ts'

type Event = ChaosEvent & { id: number }
const statuses = (count: number): Event[] =>
  Array.from({ length: count }, (_, id) => ({ id, type: 'call.status', version: null }))

/**
 * Returns all events that are sent for a sequence, including the events that are held back until the end of the
 * sequence.
 */
function sent(events: readonly Event[], faults: ChaosFault[], seed = 7): Sending<Event>[] {
  const chaos = new Chaos<Event>(faults, seed)
  const now = events.flatMap((event) => chaos.take(event, 0))
  return [...now, ...chaos.due(60_000)]
}
const idsOf = (sendings: readonly Sending<Event>[]) => sendings.map(({ event }) => event.id)
const ascending = (ids: readonly number[]) => [...ids].sort((a, b) => a - b)

t.test('without a --chaos fault every event is sent once, without delay and in order', (t) => {
  const events = [...statuses(50), { id: 50, type: 'call.recording', version: null }]
  t.same(
    sent(events, []),
    events.map((event) => ({ event, note: '', lostAnswers: 0 })),
  )
  t.end()
})

t.test('the same seed gives the same faults, and another seed gives others', (t) => {
  const all: ChaosFault[] = ['dup', 'reorder', 'late-recording', '500']
  t.same(sent(statuses(100), all, 3), sent(statuses(100), all, 3))
  t.not(JSON.stringify(sent(statuses(100), all, 3)), JSON.stringify(sent(statuses(100), all, 4)))
  t.end()
})

t.test('--chaos dup: about half of the events are sent twice in a row', (t) => {
  const ids = idsOf(sent(statuses(400), ['dup']))
  t.ok(ids.length > 540 && ids.length < 660, `${ids.length} of 400 events`)
  t.same(ids, ascending(ids), 'in order')
  t.same(
    [...new Set(ids)],
    statuses(400).map(({ id }) => id),
    'and each of them',
  )
  const twice = sent(statuses(400), ['dup']).filter(({ note }) => note === 'dup')
  t.equal(twice.length, ids.length - 400, 'the second one is named')
  t.end()
})

t.test('--chaos reorder: an event may swap with the next event, and no event is lost', (t) => {
  const events = statuses(400)
  const ids = idsOf(sent(events, ['reorder']))
  t.same(
    ascending(ids),
    events.map(({ id }) => id),
  )
  const moved = ids.filter((id, at) => id !== at)
  t.ok(moved.length > 200 && moved.length < 340, `${moved.length} of 400 events`)
  t.ok(
    ids.every((id, at) => Math.abs(id - at) <= 1),
    'by one place',
  )
  t.end()
})

t.test('--chaos reorder: an event without a following event is sent after 2 s', (t) => {
  const chaos = new Chaos<Event>(['reorder'], 7)
  const held = statuses(20).find((event) => chaos.take(event, 1_000).length === 0)
  t.ok(held, 'one is held')
  t.same(chaos.due(2_999), [])
  t.match(chaos.due(3_000), [{ event: held }])
  t.same(chaos.due(9_000), [], 'once')
  t.end()
})

t.test('--chaos late-recording: recording events and later reports are delayed by 3 to 10 s', (t) => {
  const chaos = new Chaos<Event>(['late-recording'], 7)
  const report = (id: number, version: number) => ({ id, type: 'call.report', version })
  const recording = { id: 3, type: 'call.recording', version: null }
  t.same(idsOf(chaos.take(report(1, 1), 0)), [1])
  t.same(chaos.take(report(2, 2), 0), [])
  t.same(chaos.take(recording, 0), [])
  t.same(idsOf(chaos.take({ id: 4, type: 'call.analysis', version: null }, 0)), [4])
  t.same(chaos.due(2_999), [])
  t.same(ascending(idsOf(chaos.due(10_000))), [2, 3])
  t.end()
})

t.test('--chaos 500: about half of the events are first answered 500 once or twice', (t) => {
  const lost = sent(statuses(400), ['500']).map(({ lostAnswers }) => lostAnswers)
  const count = (of: number) => lost.filter((each) => each === of).length
  t.ok(count(0) > 150 && count(1) > 60 && count(2) > 60, `${count(0)}, ${count(1)}, ${count(2)}`)
  t.equal(lost.length, 400)
  t.end()
})

t.test('a second --chaos fault does not change which events the first fault affects', (t) => {
  const lostBy = (faults: ChaosFault[]) => {
    const first = sent(statuses(100), faults).filter(({ note }) => note === '')
    return first.sort((a, b) => a.event.id - b.event.id).map(({ lostAnswers }) => lostAnswers)
  }
  t.same(lostBy(['500']), lostBy(['500', 'dup', 'reorder']))
  t.end()
})
