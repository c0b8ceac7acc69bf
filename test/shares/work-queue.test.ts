/**
 * Waveform peaks and password hashes are computed in a queue. An organization or IP address leaves a share of the queue
 * to others.
 */

import { once } from 'node:events'
import { createWriteStream, mkdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { recordingLayout } from '../../domain/records/recording.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { WorkQueue } from '../../runtime/shares/work-queue.ts'
import { createPasswordHasher } from '../../runtime/values/password-hash.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { openAdministration } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'

const several = { owners: new Owners(true), part: 0.25 }

/** Makes work that runs until the test ends it. `started` has the owners in turn. */
function heldWork(queue: WorkQueue) {
  const started: string[] = []
  const held: (() => void)[] = []
  const begin = (owner: string) =>
    queue.run(owner, () => {
      started.push(owner)
      return new Promise<void>((resolve) => held.push(resolve))
    })
  async function endFirst(): Promise<void> {
    held.shift()?.()
    await new Promise(setImmediate)
  }
  return { started, begin, endFirst }
}

t.test(
  'owners take turns in a work queue, and one owner leaves a share of running and waiting work to others',
  async (t) => {
    const { started, begin, endFirst } = heldWork(new WorkQueue({ runningMax: 4, waitingMax: 8 }, several))
    const taken = Array.from({ length: 12 }, () => begin('a'))
    t.equal(taken.filter((work) => work === null).length, 3, 'three run, six wait')
    t.same(started, ['a', 'a', 'a'])
    t.ok(begin('b'))
    t.same(started, ['a', 'a', 'a', 'b'], 'another owner starts at once')
    t.ok(begin('b'))
    t.ok(begin('b'))
    t.equal(begin('b'), null)
    for (let at = 0; at < 12; at += 1) await endFirst()
    t.same(started.slice(4), ['a', 'b', 'a', 'b', 'a', 'a', 'a', 'a'])
    await Promise.all(taken.map((work) => work ?? Promise.resolve()))
    t.equal(started.length, 12, 'each piece of work has run')
    t.same(Array.from({ length: 10 }, () => begin('a') !== null).filter(Boolean).length, 9, 'all places are free again')
  },
)

t.test('work that fails frees its place in the work queue', async (t) => {
  const queue = new WorkQueue({ runningMax: 1, waitingMax: 1 }, { owners: new Owners(), part: 1 })
  const failed = queue.run('a', () => Promise.reject(new Error('a fault')))
  const next = queue.run('a', () => Promise.resolve('the next work'))
  await t.rejects(Promise.resolve(failed), { message: 'a fault' })
  t.equal(await next, 'the next work')
})

t.test('password hashes for one network address leave a share of the work queue to other addresses', async (t) => {
  const hasher = createPasswordHasher(new WorkQueue({ runningMax: 4, waitingMax: 32 }, several))
  const attempt = (source: string) => hasher.hash('four words of my own', source)
  const many = Array.from({ length: 40 }, () => attempt('192.0.2.1'))
  const other = attempt('192.0.2.2')
  const outcomes = await Promise.allSettled(many)
  t.match(await other, /^\$argon2id\$/)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  t.equal(refused.length, 13)
  t.match(refused[0], { reason: { kind: 'overloaded' } })
})

/** Five minutes without sound, as a sparse file. */
const wavBytes = 19_200_000

t.test('the waveform peaks of one organization leave a share of the work queue to other organizations', async (t) => {
  const server = await ownServer(t, { PARLEY_LIMITS_RECORDING_PEAKS_QUEUE_MAX: '8' })
  const admin = await openAdministration(server)
  t.teardown(() => admin.close())
  const folder = join(server.dataDir, 'recordings')
  mkdirSync(folder, { recursive: true })

  async function recorded(organizationId: string): Promise<string> {
    const stored = newCall(organizationId)
    await admin.store.calls.insert(stored, {})
    const steps = (['recording', 'ready'] as const).map((status): CallEntry => {
      return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: 10 }
    })
    await admin.store.calls.append(stored, stored.id, steps)
    const file = createWriteStream(join(folder, `${stored.id}.wav`))
    file.end(wavHeader(recordingLayout, wavBytes))
    await once(file, 'close')
    truncateSync(join(folder, `${stored.id}.wav`), wavBytes)
    return stored.id
  }
  const peaks = async ({ key }: Target, id: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${server.url}/v1/calls/${id}/recording/peaks`, { headers })
    await answer.arrayBuffer()
    return answer.status
  }

  const [honest, hostile] = [await admin.organization('honest'), await admin.organization('hostile')]
  const ofHonest = await recorded(honest.id)
  const ofHostile = await Promise.all(Array.from({ length: 16 }, () => recorded(hostile.id)))
  const statuses: number[] = []
  const served = () => statuses.filter((status) => status === 200).length
  let all: Promise<void>[] = []
  await new Promise<void>((isFull) => {
    all = ofHostile.map(async (id) => {
      const status = await peaks(hostile, id)
      statuses.push(status)
      if (status === 503) isFull()
    })
  })
  t.equal(await peaks(honest, ofHonest), 200)
  const before = served()
  await Promise.all(all)
  t.ok(served() >= 7, 'one runs and six wait')
  t.ok(served() - before > 2, 'the other organization need not wait for all')
})
