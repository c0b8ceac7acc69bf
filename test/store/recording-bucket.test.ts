/** If an upload fails, because of the bucket or the file, nothing stays open and nothing else ends. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { RecordingContent } from '../../domain/records/recording.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { openRecordingBucket } from '../../store/recordings/recording-bucket.ts'

const place = { organizationId: 'org', test: false, id: '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70' }
const pieces = 1_000
const piece = Buffer.alloc(65_536)

/** Counts the reads that have begun but not ended. */
function contentOf(breaksAfter: number): { content: RecordingContent; open: () => number } {
  let open = 0
  async function* read(): AsyncGenerator<Uint8Array> {
    await Promise.resolve()
    open++
    try {
      for (let sent = 0; sent < pieces; sent++) {
        if (sent === breaksAfter) throw new Error('the disk is broken')
        yield piece
      }
    } finally {
      open--
    }
  }
  return { content: { size: pieces * piece.length, modifiedAtMs: 0, read }, open: () => open }
}

/** A bucket that refuses each upload after its first bytes, or accepts all bytes and never answers. */
async function bucketThat(
  test: { teardown(run: () => unknown): void },
  answers: 'refuses' | 'waits' | 'deletes' | 'keeps',
  asked: string[] = [],
) {
  const objects = new Map<string, Buffer>()
  process.env['AWS_ACCESS_KEY_ID'] = 'parley-test'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret-of-the-parley-tests'
  test.teardown(() => {
    delete process.env['AWS_ACCESS_KEY_ID']
    delete process.env['AWS_SECRET_ACCESS_KEY']
  })
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]}`)
    if (answers === 'deletes') return void response.writeHead(asked.length === 1 ? 204 : 404).end()
    if (answers === 'keeps') return void keep(objects, request, response)
    if (answers === 'waits') return void request.resume()
    request.once('data', () => response.writeHead(403).end(() => request.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = { bucket: 'recordings', region: 'us-east-1', endpoint, prefix: '', forcePathStyle: true }
  const bucket = await openRecordingBucket(settings, systemClock)
  test.teardown(() => {
    bucket.close()
    server.closeAllConnections()
    server.close()
  })
  return bucket
}

/** Acts as the bucket's server: stores the uploaded objects in memory, and returns them. */
async function keep(objects: Map<string, Buffer>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = request.url?.split('?')[0] ?? ''
  if (request.method === 'PUT') {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    objects.set(key, Buffer.concat(pieces))
    response.end()
    return
  }
  const object = objects.get(key)
  response.writeHead(object === undefined ? 404 : 200).end(object)
}

t.test('waveform peaks are stored beside the recording, and a file that is too large is not read', async (t) => {
  const asked: string[] = []
  const bucket = await bucketThat(t, 'keeps', asked)
  t.equal(await bucket.findPeaks(place), null)
  await bucket.keepPeaks(place, Uint8Array.of(1, 2, 3))
  t.same([...((await bucket.findPeaks(place)) ?? [])], [1, 2, 3])
  t.same(asked[1], `PUT /recordings/org/live/${place.id}.peaks`)
  await bucket.keepPeaks(place, new Uint8Array(17 * 1_048_576))
  await t.rejects(bucket.findPeaks(place), { message: /too large/ })
})

t.test('after an upload has failed, its file is closed', async (t) => {
  const bucket = await bucketThat(t, 'refuses')
  const { content, open } = contentOf(Number.POSITIVE_INFINITY)
  await t.rejects(bucket.put(place, content, new AbortController().signal))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(open(), 0)
})

t.test('if a file cannot be read, only its upload ends', async (t) => {
  const bucket = await bucketThat(t, 'waits')
  const { content, open } = contentOf(2)
  await t.rejects(bucket.put(place, content, new AbortController().signal))
  t.equal(open(), 0)
})

t.test(
  'a recording and its peaks are removed by their object keys, and missing objects count as removed',
  async (t) => {
    const asked: string[] = []
    const bucket = await bucketThat(t, 'deletes', asked)
    await bucket.remove(place)
    await bucket.remove(place)
    const keys = ['peaks', 'wav'].map((ending) => `DELETE /recordings/org/live/${place.id}.${ending}`)
    t.same(asked, [...keys, ...keys])
  },
)
