/** Recordings are uploaded in time, with repeated attempts, and by the process on whose machine the file is. */
import t from 'tap'
import { peaksHeader } from '../../audio/peaks.ts'
import { type DueUpload, RecordingUploads } from '../../domain/calls/recording-uploads.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { type RecordingPlace, type Recordings, recordingPeaksLayout } from '../../domain/records/recording.ts'
import { storeClock } from '../time/store-clock.ts'

const ids = ['1', '2', '3'].map((digit) => `019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a7${digit}`)

/** Prepares uploads over a bucket, files and rows in memory. */
function setUp(uploadMs = 3_600_000, peaks: Uint8Array | null = null) {
  const clock = storeClock()
  const endedAtMs = clock.nowMs()
  const rows = new Map<string, DueUpload>()
  const files = new Set<string>()
  const growing = new Set<string>()
  const put: string[] = []
  const ended: { id: string; status: string; durationMs: number | null; cause: string | null }[] = []
  const state = { failure: null as Error | null, isTaken: false, hold: null as Promise<void> | null }
  const keptPeaks: string[] = []
  const content = { size: 10, modifiedAtMs: 0, read: () => emptyBody() }
  const uploads = new RecordingUploads({
    uploads: {
      due: () => Promise.resolve([...rows.values()]),
      takeOver: ({ id }) => {
        if (state.isTaken) return Promise.resolve(false)
        rows.set(id, { ...rows.get(id)!, isOwn: true })
        return Promise.resolve(true)
      },
    },
    calls: {
      append: (_tenant, id, entries: readonly CallEntry[]) => {
        for (const entry of entries) {
          if (entry.kind !== 'recording') continue
          ended.push({ id, status: entry.status, durationMs: entry.durationMs, cause: entry.event.failureCause })
          rows.delete(id)
        }
        return Promise.resolve([])
      },
    },
    files: {
      find: (id) => Promise.resolve(files.has(id) ? content : null),
      findPeaks: () => Promise.resolve(peaks),
      remove: (id) => {
        files.delete(id)
        return Promise.resolve()
      },
    } as Partial<Recordings> as Recordings,
    complete: () => Promise.resolve(1500),
    isGrowing: (id) => growing.has(id),
    bucket: {
      async put({ id }: RecordingPlace, _content, signal) {
        put.push(id)
        await Promise.race([state.hold, aborted(signal)])
        if (state.failure !== null) throw state.failure
      },
      find: () => Promise.resolve(null),
      findPeaks: () => Promise.resolve(null),
      keepPeaks({ id }) {
        keptPeaks.push(id)
        return Promise.resolve()
      },
      link: () => Promise.resolve(''),
      remove: () => Promise.resolve(),
      close: () => {},
    },
    uploadMs,
    clock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    eventId: () => 'event',
  })
  const add = (id: string, more: Partial<DueUpload> = {}) => {
    rows.set(id, { organizationId: 'a', test: false, id, endedAtMs, ownerId: 'me', isOwn: true, ...more })
    files.add(id)
  }
  const look = async () => {
    await uploads.look()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, uploads, rows, files, growing, put, keptPeaks, ended, state, add, look }
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

t.test('a recording is uploaded once, and its file is removed after the database has the upload', async (t) => {
  const { add, look, put, ended, files } = setUp()
  add(ids[0]!)
  await look()
  await look()
  t.same(put, [ids[0]])
  t.same(ended, [{ id: ids[0], status: 'ready', durationMs: 1500, cause: null }])
  t.equal(files.size, 0)
})

t.test('waveform peaks are uploaded with the recording if they are complete, and not otherwise', async (t) => {
  const none = peaksHeader(recordingPeaksLayout, 0)
  for (const [peaks, isUploaded] of [
    [none, true],
    [peaksHeader(recordingPeaksLayout, 1), false],
    [none.subarray(1), false],
    [null, false],
  ] as const) {
    const { add, look, put, keptPeaks } = setUp(3_600_000, peaks)
    add(ids[0]!)
    await look()
    t.same([put, keptPeaks], [[ids[0]], isUploaded ? [ids[0]] : []])
  }
})

t.test('the pause between two upload attempts doubles from a second to a minute', async (t) => {
  const { add, look, put, state, clock, ended } = setUp()
  state.failure = new Error('away')
  add(ids[0]!)
  const triesAtS: number[] = []
  for (let second = 0; second < 200; second++) {
    const before = put.length
    await look()
    if (put.length > before) triesAtS.push(second)
    await clock.leap(1000)
  }
  t.same(triesAtS, [0, 1, 3, 7, 15, 31, 63, 123, 183])
  state.failure = null
  await clock.leap(60_000)
  await look()
  t.same(
    ended.map(({ status }) => status),
    ['ready'],
  )
})

t.test('an upload fails after its time limit, and the file is kept', async (t) => {
  const { add, look, put, state, clock, ended, files } = setUp(10_000)
  state.failure = new Error('away')
  add(ids[0]!)
  await look()
  await clock.leap(10_000)
  await look()
  t.same([put.length, ended], [2, []], 'the last moment counts')
  await clock.leap(2_000)
  await look()
  t.equal(put.length, 3)
  t.same(ended, [{ id: ids[0], status: 'failed', durationMs: null, cause: 'upload_failed' }])
  t.equal(files.size, 1)
})

t.test('an upload is tried once more if its time limit passed while no process ran', async (t) => {
  const { add, look, put, state, clock, ended, files } = setUp(10_000)
  add(ids[0]!)
  add(ids[1]!, { ownerId: 'dead', isOwn: false })
  await clock.leap(86_400_000)
  await look()
  t.same(put, ids.slice(0, 2))
  t.match(ended, [{ status: 'ready' }, { status: 'ready' }])
  state.failure = new Error('away')
  add(ids[2]!)
  await look()
  t.same(put, ids)
  t.match(ended.at(-1), { id: ids[2], status: 'failed', cause: 'upload_failed' })
  t.same([...files], [ids[2]], 'its file stays')
})

t.test('uploads whose files are on other machines delay no other upload', async (t) => {
  const { add, look, put, files, clock } = setUp()
  const elsewhere = Array.from({ length: 1000 }, (_, index) => `elsewhere-${index}`)
  for (const id of elsewhere) add(id, { ownerId: 'dead', isOwn: false })
  files.clear()
  for (const id of ids) add(id)
  await look()
  await look()
  t.same(put, ids)
  files.add(elsewhere[0]!)
  await clock.leap(59_999)
  await look()
  t.equal(put.length, ids.length, 'the missing files are not searched each time')
  await clock.leap(1)
  await look()
  t.equal(put.at(-1), elsewhere[0])
})

t.test('a recording that is still being written is not uploaded', async (t) => {
  const { add, look, put, growing, files } = setUp()
  add(ids[0]!)
  growing.add(ids[0]!)
  await look()
  t.same([put, [...files]], [[], [ids[0]]])
  growing.clear()
  await look()
  t.same(put, [ids[0]])
})

t.test('two uploads run at once, and a failing upload delays no other', async (t) => {
  const { add, look, put, state } = setUp()
  let release = () => {}
  state.hold = new Promise((resolve) => {
    release = resolve
  })
  for (const id of ids) add(id)
  await look()
  await look()
  t.same(put, ids.slice(0, 2))
  release()
  await new Promise((resolve) => setImmediate(resolve))
  await look()
  t.same(put, ids)
})

t.test("if a process dies, another process that has the recording's file uploads it", async (t) => {
  const dead = { ownerId: 'dead', isOwn: false }
  const { add, look, put, state, files, ended, clock } = setUp(100_000)
  add(ids[0]!, dead)
  state.isTaken = true
  await look()
  t.same(put, [], 'another process was faster')
  state.isTaken = false
  files.delete(ids[0]!)
  await look()
  t.same([put, ended], [[], []], 'its file is on another machine')
  files.add(ids[0]!)
  await clock.leap(60_000)
  await look()
  t.same(put, [ids[0]])
  add(ids[1]!, dead)
  files.delete(ids[1]!)
  await clock.leap(40_001)
  await look()
  t.match(ended.at(-1), { id: ids[1], status: 'failed' }, 'no machine has come back with it in time')
})

t.test('if the file of a recording is gone, the recording ends as failed with the cause recording_lost', async (t) => {
  const { add, look, files, ended } = setUp()
  add(ids[0]!)
  files.clear()
  await look()
  t.match(ended, [{ status: 'failed', cause: 'recording_lost' }])
})

t.test('a process that ends cancels its uploads, and does not report them as failed', async (t) => {
  const { add, look, uploads, state, ended, files, put } = setUp()
  state.hold = new Promise(() => {})
  add(ids[0]!)
  await look()
  await uploads.close()
  t.same([put.length, ended.length, files.size], [1, 0, 1])
  await look()
  t.equal(put.length, 1)
})
