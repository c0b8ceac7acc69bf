/** Tests how the console keeps a list of calls up to date: with a stream, and by reading the list again. */
import { getEventListeners } from 'node:events'
import t from 'tap'
import type { CallPages } from '../../console/app/data/call-pages.ts'
import { followList, grownMax, rereadMs } from '../../console/app/data/followed-list.ts'
import type { List } from '../../console/app/data/fresh-pages.ts'
import { pause } from '../../console/app/data/pause.ts'
import type { CallList, CallOverview } from '../../generated/clients/typescript/models/platform.ts'

const pageSize = 2

/** Call 3 is newer than call 2. */
function call(number: number, status: CallOverview['status'] = 'in_progress'): CallOverview {
  const createdAt = new Date(Date.UTC(2026, 10, 1) + number * 1000).toISOString()
  return { id: `call_${number}`, created_at: createdAt, status } as CallOverview
}

const calls = (...numbers: number[]) => numbers.map((number) => call(number))

type Options = { isHeld?: boolean; isByTime?: boolean; loadedPages?: number }

/** Imitates a server with calls, and a page that has loaded the first pages. */
function openList(served: CallOverview[], { isHeld = false, isByTime = true, loadedPages = 1 }: Options = {}) {
  const pageAt = (cursor: string | null): CallList => {
    const rest =
      cursor === null ? state.served : state.served.slice(state.served.findIndex(({ id }) => id === cursor) + 1)
    const page = rest.slice(0, pageSize)
    return { calls: page, next_cursor: rest.length > pageSize ? (page.at(-1)?.id ?? null) : null }
  }
  const state = {
    served,
    isHeld,
    reads: 0,
    resets: 0,
    waiting: [] as readonly CallOverview[],
    counts: new Map<string, number>(),
    pages: undefined as unknown as CallPages,
    /** If set, the page loads more calls until this promise resolves. */
    loading: null as Promise<void> | null,
    /** Runs while an answer to a read of the list is on its way. */
    onRead: () => {},
    /** Ends the wait until the rows may move again. */
    release: () => {},
    pauses: [] as { ms: number; end: () => void }[],
  }
  const pages: CallList[] = []
  for (let at = 0; at < loadedPages; at++) pages.push(pageAt(pages.at(-1)?.next_cursor ?? null))
  state.pages = { pages, pageParams: [null, ...pages.slice(0, -1).map((page) => page.next_cursor)] }
  const list: List = {
    pages: () => state.pages,
    put: (next) => void (state.pages = next),
    reset: () => void state.resets++,
    read: async (cursor) => {
      state.reads++
      const page = pageAt(cursor)
      await Promise.resolve()
      state.onRead()
      return page
    },
    isLoading: () => state.loading !== null,
    whenLoaded: () => state.loading ?? Promise.resolve(),
    isHeld: () => state.isHeld,
    whenReleased: () => new Promise((resolve) => (state.release = resolve)),
    isByTime,
    changeWaiting: (change) => void (state.waiting = change(state.waiting)),
    count: (id) => void state.counts.set(id, (state.counts.get(id) ?? 0) + 1),
    pause: (ms) => new Promise((end) => void state.pauses.push({ ms, end })),
  }
  const controller = new AbortController()
  return {
    state,
    controller,
    follower: followList(list, controller.signal),
    rows: () => state.pages.pages.map((page) => page.calls.map(({ id, status }) => `${id} ${status}`)),
  }
}

/** Lets all work run that does not wait for a pause. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

t.test('if changes of calls may have been missed, the list is read again from its first page', async (t) => {
  const { state, follower, rows } = openList(calls(4, 3, 2, 1), { loadedPages: 2 })
  state.served = [call(6), call(4, 'completed'), call(2), call(1)]
  follower.missed()
  await settled()
  t.same(rows(), [['call_6 in_progress', 'call_4 completed']])
  t.equal(state.pages.pages[0]?.next_cursor, 'call_4')
  t.same([...state.counts], [['call_4', 1]])
  t.equal(state.reads, 1)
})

t.test(
  'while the rows must not move, changed calls are updated, missing calls are removed, and new calls wait',
  async (t) => {
    const { state, follower, rows } = openList(calls(5, 4, 3, 2, 1), { loadedPages: 2, isHeld: true })
    state.waiting = [call(6)]
    state.served = [...calls(9, 8, 7), call(5, 'completed'), call(3), call(2, 'completed'), call(1)]
    const [kept] = state.pages.pages[1]?.calls ?? []
    follower.missed()
    await settled()
    t.same(rows(), [['call_5 completed'], ['call_3 in_progress', 'call_2 completed']])
    t.same(
      state.waiting.map(({ id }) => id),
      ['call_9', 'call_8', 'call_7'],
    )
    t.equal(state.pages.pages[1]?.calls[0], kept, 'an equal row stays the same object, so React does not draw the row')
  },
)

t.test('if too many new calls came while the rows must not move, the list is loaded again', async (t) => {
  const { state, follower } = openList(calls(2, 1), { isHeld: true })
  state.served = calls(...Array.from({ length: 30 }, (_, at) => 30 - at))
  follower.missed()
  await settled()
  t.equal(state.resets, 1)
  t.ok(state.reads < 10, `${state.reads} pages`)
})

t.test(
  'in a list not sorted by time, rows stay while they must not move, and the list is read again afterwards',
  async (t) => {
    const { state, follower, rows } = openList(calls(1, 3, 2), { loadedPages: 1, isHeld: true, isByTime: false })
    state.served = [call(4), call(1, 'completed'), call(3)]
    follower.missed()
    await settled()
    t.same(rows(), [['call_1 completed', 'call_3 in_progress']], 'call 3 is on a page that was not read')
    t.same(state.waiting, [])
    state.isHeld = false
    state.release()
    state.pauses[0]?.end()
    await settled()
    t.same(rows(), [['call_4 in_progress', 'call_1 completed']])
    state.pauses[1]?.end()
    await settled()
    t.equal(state.reads, 2, 'and only once')
  },
)

t.test(
  'in a list not sorted by time, a call that is on no page any more is removed, even if the rows must not move',
  async (t) => {
    const { state, follower, rows } = openList(calls(1, 3, 2), { loadedPages: 2, isHeld: true, isByTime: false })
    state.served = [call(4), call(1, 'completed'), call(3)]
    follower.missed()
    await settled()
    t.same(rows(), [['call_1 completed', 'call_3 in_progress'], []])
  },
)

t.test('a change of a call during a read of the list is not overwritten by the older answer', async (t) => {
  const { state, follower, rows } = openList(calls(2, 1))
  state.onRead = () => follower.changed(call(2, 'completed'))
  follower.missed()
  await settled()
  t.same(rows(), [['call_2 completed', 'call_1 in_progress']])
})

t.test('a change of a call while the page loads more calls is applied once they are loaded', async (t) => {
  const { state, follower, rows } = openList(calls(2, 1))
  const before = state.pages
  let load = () => {}
  state.loading = new Promise((resolve) => (load = resolve))
  follower.changed(call(2, 'completed'))
  follower.gone('call_1')
  await settled()
  t.equal(state.pages, before)
  state.loading = null
  load()
  await settled()
  t.same(rows(), [['call_2 completed']])
})

t.test('if the page loads more calls during a read of the list, the list is read again', async (t) => {
  const { state, follower, rows } = openList(calls(2, 1))
  const before = state.pages
  let load = () => {}
  state.onRead = () => {
    state.onRead = () => {}
    state.loading = new Promise((resolve) => (load = resolve))
  }
  state.served = [call(2, 'completed')]
  follower.missed()
  await settled()
  t.equal(state.pages, before, 'the answer would be replaced')
  state.loading = null
  load()
  await settled()
  t.same(rows(), [['call_2 completed']])
})

t.test('if the event stream requires a read of the list every second, it is read every five seconds', async (t) => {
  const { state, follower } = openList(calls(2, 1))
  for (let second = 0; second < 5; second++) {
    follower.missed()
    await settled()
  }
  t.equal(state.reads, 1)
  t.same(
    state.pauses.map(({ ms }) => ms),
    [rereadMs],
  )
  state.pauses[0]?.end()
  await settled()
  t.equal(state.reads, 2)
  state.pauses[1]?.end()
  await settled()
  t.equal(state.reads, 2, 'nothing was missed since')
})

t.test('a failed read of the list is repeated later', async (t) => {
  const { state, follower, rows } = openList(calls(2, 1))
  state.onRead = () => {
    state.onRead = () => {}
    throw new Error('no answer')
  }
  state.served = [call(2, 'completed')]
  follower.missed()
  await settled()
  t.same(rows(), [['call_2 in_progress', 'call_1 in_progress']])
  t.ok((state.pauses[0]?.ms ?? 0) > rereadMs)
  state.pauses[0]?.end()
  await settled()
  t.same(rows(), [['call_2 completed']])
})

t.test('an old call that changes is not announced as new', (t) => {
  const { state, follower } = openList(calls(5, 4, 3, 2))
  follower.changed(call(1, 'completed'))
  t.same(state.waiting, [], 'it comes with its own page')
  follower.changed(call(6))
  t.same(
    state.waiting.map(({ id }) => id),
    ['call_6'],
  )
  const whole = openList(calls(5, 4))
  whole.follower.changed(call(1))
  t.equal(whole.state.waiting.length, 1, 'the loaded rows are the whole list')
  t.end()
})

t.test('a first page that has grown too long is read again', async (t) => {
  const { state, follower } = openList(calls(1))
  const grown = Array.from({ length: grownMax + 1 }, (_, at) => call(grownMax + 1 - at))
  state.pages = { pages: [{ calls: grown, next_cursor: null }], pageParams: [null] }
  state.served = grown.toSpliced(0, 0, call(1000))
  state.isHeld = true
  follower.changed(call(1000))
  await settled()
  t.equal(state.reads, 0, 'the rows must stay')
  state.isHeld = false
  follower.changed(call(1000))
  await settled()
  t.equal(state.pages.pages[0]?.calls.length, pageSize)
  t.same(state.waiting, [])
})

t.test('after the user has left the list, a late answer changes nothing', async (t) => {
  const { state, controller, follower } = openList(calls(2, 1))
  const before = state.pages
  state.onRead = () => {
    follower.changed(call(2, 'completed'))
    controller.abort()
  }
  follower.missed()
  await settled()
  t.equal(state.pages, before)
})

t.test('a pause ends at an abort, and leaves no listener', async (t) => {
  const { signal } = new AbortController()
  await pause(1, signal)
  t.same(getEventListeners(signal, 'abort'), [])
  const aborted = new AbortController()
  const ended = pause(1_000_000, aborted.signal)
  aborted.abort()
  await ended
  await pause(1_000_000, aborted.signal)
})
