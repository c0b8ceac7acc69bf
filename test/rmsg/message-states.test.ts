/** Tests a rich message's states if the provider's events come twice, late and in any order. */
import t from 'tap'
import {
  fallbackApplied,
  follow,
  isFinal,
  type MessageState,
  messageServices,
  messageStatuses,
} from '../../domain/records/states/rmsg-message.ts'

const order = ['registered', 'pending', 'queued', 'accepted', 'sent', 'delivered'] as const
const place = ({ status }: MessageState) => {
  const at = (order as readonly string[]).indexOf(status)
  return at < 0 ? order.length : at
}
const start: MessageState = { status: 'registered', channel: null }
const reports = messageStatuses.flatMap((status) => messageServices.map((service) => ({ status, service })))

/** Returns a generator for numbers from 0 to below 1. The same seed gives the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
const seeds = Array.from({ length: 500 }, (_, at) => at + 1)
function sequence(seed: number) {
  const random = randomFrom(seed)
  const drawn = Array.from({ length: 12 }, () => reports[Math.floor(random() * reports.length)] as (typeof reports)[0])
  const doubled = drawn.flatMap((report) => (random() < 0.3 ? [report, report] : [report]))
  return doubled.map((report) => ({ report, key: random() })).sort((a, b) => a.key - b.key)
}

t.test('a message changes its state only forward, and never after a final state', (t) => {
  for (const from of messageStatuses)
    for (const { status, service } of reports) {
      const state = { status: from, channel: null }
      const next = follow(state, { status, service })
      const isEnd = ['delivered', 'declined', 'error'].includes(from)
      const isForward = place({ status, channel: null }) > place(state)
      t.equal(next !== state, !isEnd && isForward, `${from} to ${status}`)
      t.equal(isFinal(state), isEnd)
    }
  t.end()
})

t.test('no event moves a message back to an earlier state, and a repeated event changes nothing', (t) => {
  for (const seed of seeds) {
    let state = start
    for (const { report } of sequence(seed)) {
      const next = follow(state, report)
      if (place(next) < place(state)) t.fail(`seed ${seed}: ${state.status} to ${next.status}`)
      if (isFinal(state) && next !== state) t.fail(`seed ${seed}: ${state.status} is final`)
      if (follow(next, report) !== next) t.fail(`seed ${seed}: ${report.status} twice`)
      state = next
    }
  }
  t.pass()
  t.end()
})

t.test("a message's channel is the service that its last sent or delivered event names", (t) => {
  for (const seed of seeds) {
    let state = start
    let expected: MessageState['channel'] = null
    for (const { report } of sequence(seed)) {
      const next = follow(state, report)
      if (next !== state && (report.status === 'sent' || report.status === 'delivered')) expected = report.service
      state = next
      if (state.channel !== expected) t.fail(`seed ${seed}: ${state.channel} is not ${expected}`)
      if (fallbackApplied(state) !== (expected === null ? null : expected !== 'rmsg')) t.fail(`seed ${seed}: fallback`)
    }
    if (state.status === 'delivered' && state.channel === null) t.fail(`seed ${seed}: delivered without a channel`)
  }
  t.pass()
  t.end()
})
