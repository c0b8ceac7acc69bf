/**
 * If an organization uses connections beyond its share and does not read its streams, other organizations get these
 * connections back.
 */
import t, { type Test } from 'tap'
import { toProviderError } from '../../providers/wire/failures.ts'
import { OutboundError } from '../../runtime/outbound/outbound-error.ts'
import { createPool, type OutboundPool, type OutboundRequest } from '../../runtime/outbound/pool.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { TestClock } from '../clock.ts'
import { collect } from '../providers/openai-setup.ts'
import { type Behaviour, startStubOpenAi } from '../providers/stub-openai.ts'
import { wholeProcess } from '../time/quiet.ts'

const connectionsMax = 4
const answerBytes = 1024 * 1024
const stub = await startStubOpenAi()
t.teardown(() => stub.close())

const get: OutboundRequest = {
  method: 'GET',
  path: '/v1/models',
  headers: [],
  headersTimeoutMs: 5000,
  bodyTimeoutMs: 5000,
  totalMs: 60_000,
  answerBytesMax: answerBytes,
}
const large: Behaviour = { kind: 'custom', answer: (_, response) => response.end('x'.repeat(answerBytes)) }

/** Opens streams of a hostile organization on all connections. */
async function setUp(t: Test) {
  const clock = new TestClock({ quiet: wholeProcess })
  const shares = { owners: new Owners(), part: 0.25, waitMs: 2000 }
  const pool = createPool({ origin: stub.url, connectionsMax, queuedMax: 4, connectMs: 1000, clock, shares })
  t.teardown(() => pool.close())
  stub.behave(...Array.from({ length: connectionsMax }, () => large))
  const streams = await Promise.all(Array.from({ length: connectionsMax }, () => streamOf(pool)))
  return { clock, streams, honest: () => pool.request({ ...get, owner: 'honest' }) }
}

async function streamOf(pool: OutboundPool): Promise<AsyncIterable<Uint8Array>> {
  return (await pool.stream({ ...get, owner: 'hostile' })).body
}

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

t.test('a stream that no client reads is closed if another organization lacks a connection', async (t) => {
  const { clock, streams, honest } = await setUp(t)
  t.equal((await clock.during(honest())).status, 200)
  t.equal((await clock.during(honest())).status, 200, 'the connection stays free')
  const ends = await clock.during(Promise.all(streams.map((stream) => failureOf(collect(stream)))))
  const [cut, ...others] = ends.filter((end) => end instanceof OutboundError)
  t.match(cut, { failure: 'unread' })
  t.same(others, [], 'all other answers are whole')
  t.match(toProviderError(cut), { errorClass: 'overloaded', isOurs: true }, 'the provider is not blamed')
})

t.test('a stream that is read slowly is kept, and a request that waits 2 s for a connection is refused', async (t) => {
  const { clock, streams, honest } = await setUp(t)
  const readers = streams.map((stream) => stream[Symbol.asyncIterator]())
  let refused: unknown = null
  void failureOf(honest()).then((error) => {
    refused = error
  })
  for (let i = 0; i < 4; i++) {
    await clock.advance(500)
    for (const reader of readers) t.equal((await reader.next()).done, false)
  }
  t.match(refused, { failure: 'queue_full', sent: false })
})
