/**
 * The event stream of webhook events, over a stub store and a test clock: its order, its repeated events, its
 * concurrency lease and its limits.
 */
import t from 'tap'
import {
  createStreamWebhookEvents,
  type EventPosition,
  type StoredWebhookEvent,
  type Streamed,
  type StreamPosition,
  type WebhookStreamStore,
} from '../../domain/webhooks/event-stream.ts'
import { settled, TestClock } from '../clock.ts'

const tenant = { organizationId: 'org_1', test: false }
const startMs = 1_000_000

class TestStore implements WebhookStreamStore {
  readonly events: (StoredWebhookEvent & EventPosition)[] = []
  readonly opened: number[] = []
  watchers = 0
  #stored = () => {}
  readonly #clock: TestClock
  constructor(clock: TestClock) {
    this.#clock = clock
  }
  async add(id: string, storedAtMs = this.#clock.nowMs()): Promise<void> {
    const times = { occurredAtMs: storedAtMs, storedAtMs }
    this.events.push({ id, type: 'call.status', callId: id, version: null, body: Buffer.from('{}'), ...times })
    this.#stored()
    await settled()
  }
  keepOpen = (_: object, openMs: number) => {
    this.opened.push(openMs)
    return Promise.resolve(this.#clock.nowMs())
  }
  positions = (_: object, fromMs: number, after: EventPosition | null, limit: number) => {
    const order = (a: EventPosition, b: EventPosition) => a.storedAtMs - b.storedAtMs || (a.id < b.id ? -1 : 1)
    const found = this.events.filter((each) => each.storedAtMs >= fromMs && (after === null || order(each, after) > 0))
    return Promise.resolve(found.sort(order).slice(0, limit))
  }
  find = (_: object, id: string) => Promise.resolve(this.events.find((each) => each.id === id) ?? null)
  watch = (_: object, run: () => void) => {
    this.watchers += 1
    this.#stored = run
    return () => (this.watchers -= 1)
  }
}

function setup() {
  const clock = new TestClock({ startMs })
  const store = new TestStore(clock)
  return { clock, store, stream: createStreamWebhookEvents({ store, clock }) }
}

/** Reads a stream in the background. */
function read(streamed: AsyncIterable<Streamed>) {
  const seen: Streamed[] = []
  const done = (async () => {
    for await (const each of streamed) seen.push(each)
  })()
  return { seen, done, ids: () => seen.flatMap((each) => (each.kind === 'event' ? [each.event.id] : [])) }
}

t.test('an event stream sends each event since its opening once, even if the event was stored late', async (t) => {
  const { clock, store, stream } = setup()
  await store.add('before', startMs - 1)
  const leave = new AbortController()
  const { ids, seen, done } = read(await stream(tenant, null, leave.signal))
  await clock.advance(20_000)
  await store.add('b')
  await store.add('a', clock.nowMs() - 9_000)
  await store.add('too late', clock.nowMs() - 10_001)
  t.same(ids(), ['b', 'a'])
  t.match(seen[0], { kind: 'open', position: { startMs, newestMs: startMs } })
  t.match(seen.at(-1), { position: { startMs, newestMs: startMs + 20_000 } })
  leave.abort()
  await done
  t.equal(store.watchers, 0)
})

t.test('a client that reconnects gets all missed events, but no event from before its first opening', async (t) => {
  const { clock, store, stream } = setup()
  await store.add('before', startMs - 1)
  const first = new AbortController()
  const one = read(await stream(tenant, null, first.signal))
  await clock.advance(1_000)
  await store.add('a')
  const position = one.seen.at(-1)?.position as StreamPosition
  first.abort()
  await one.done
  await store.add('behind', position.newestMs - 500)
  await clock.advance(30_000)
  await store.add('b')
  const second = new AbortController()
  const two = read(await stream(tenant, position, second.signal))
  await settled()
  t.same(two.ids(), ['behind', 'a', 'b'], 'those of the seconds before come again')
  second.abort()
  await two.done
})

t.test('the cursor of an event stream reaches back one hour', async (t) => {
  const { clock, store, stream } = setup()
  await clock.advance(7_200_000)
  await store.add('old', clock.nowMs() - 3_600_001)
  await store.add('young', clock.nowMs() - 3_600_000)
  const leave = new AbortController()
  const { ids, done } = read(await stream(tenant, { startMs: 0, newestMs: 0 }, leave.signal))
  await settled()
  t.same(ids(), ['young'])
  leave.abort()
  await done
})

t.test('an event stream sends more events than one page holds', async (t) => {
  const { store, stream } = setup()
  for (let i = 0; i < 1_200; i++) await store.add(`e${String(i).padStart(4, '0')}`, startMs + Math.floor(i / 100))
  const leave = new AbortController()
  const { ids, done } = read(await stream(tenant, { startMs, newestMs: startMs }, leave.signal))
  await store.add('z')
  t.equal(ids().length, 1_201)
  t.equal(new Set(ids()).size, 1_201)
  leave.abort()
  await done
})

t.test('an open event stream renews its concurrency lease every 15 s, and ends after ten minutes', async (t) => {
  const { clock, store, stream } = setup()
  const { seen, done } = read(await stream(tenant, null, new AbortController().signal))
  t.same(store.opened, [60_000])
  await settled()
  await clock.advance(15_000)
  t.same(store.opened, [60_000, 60_000])
  await clock.advance(584_999)
  t.equal(seen.length, 1)
  await clock.advance(1)
  await done
  t.equal(seen.at(-1)?.kind, 'end')
  t.equal(store.opened.length, 41)
  t.equal(store.watchers, 0)
})

t.test('a tenant has at most 8 event streams at once', async (t) => {
  const { stream } = setup()
  const leave = Array.from({ length: 8 }, () => new AbortController())
  for (const { signal } of leave) await stream(tenant, null, signal)
  const refused = { message: 'too_many_at_once' }
  await t.rejects(stream(tenant, null, new AbortController().signal), refused)
  await stream({ ...tenant, test: true }, null, new AbortController().signal)
  leave[0]?.abort()
  await stream(tenant, null, new AbortController().signal)
  await t.rejects(stream(tenant, null, new AbortController().signal), refused)
})

t.test('an event stream that could not be opened does not count for the limit', async (t) => {
  const { clock, store } = setup()
  const failing = createStreamWebhookEvents({
    store: { ...store, keepOpen: () => Promise.reject(new Error('away')) },
    clock,
  })
  for (let i = 0; i < 9; i++) await t.rejects(failing(tenant, null, new AbortController().signal), /away/)
})

t.test('an event stream renews its concurrency lease every 15 s even if the client reads slowly', async (t) => {
  const { clock, store, stream } = setup()
  const abort = new AbortController()
  const streamed = await stream(tenant, null, abort.signal)
  const reading = streamed[Symbol.asyncIterator]()
  await reading.next()
  await store.add('e1')
  await reading.next()
  const before = store.opened.length
  await clock.advance(90_000)
  t.equal(store.opened.length - before, 6, 'every 15 s')
  abort.abort()
  await reading.return?.()
  await clock.advance(90_000)
  t.equal(store.opened.length - before, 6, 'and not after its end')
})
