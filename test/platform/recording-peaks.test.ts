/** The waveform of a recording over HTTP: computed at the first request, kept, and removed with the recording. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { recordingLayout } from '../../domain/records/recording.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { speechAt } from '../speech/samples.ts'
import { startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const folder = join(parley.dataDir, 'recordings')
const files = createRecordingFiles(folder)
const speech = await speechAt('privacy-prompt', 16_000)
const frames = speech.length

/** The caller speaks, and the agent's channel has the same audio at half the level. */
const samples = Int16Array.from({ length: frames * 2 }, (_, at) => speech[at >> 1]! >> (at % 2))

function expectedPixels(): number[] {
  const pixels: number[] = []
  for (let from = 0; from < frames; from += 320)
    for (const side of [0, 1]) {
      const part = speech.subarray(from, from + 320).map((sample) => sample >> side)
      pixels.push(Math.floor(Math.min(...part) / 256), Math.floor(Math.max(...part) / 256))
    }
  return pixels
}

async function recorded(): Promise<{ id: string; key: string }> {
  const acme = await admin.organization('with peaks')
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const steps = (['recording', 'ready'] as const).map((status): CallEntry => {
    return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: 10 }
  })
  await admin.store.calls.append(stored, stored.id, steps)
  const file = await files.create(stored.id)
  await file.append(wavHeader(recordingLayout, samples.byteLength))
  await file.append(new Uint8Array(samples.buffer))
  // As if the process had died while it wrote a frame.
  await file.append(Uint8Array.of(1, 2, 3))
  await file.close()
  return { id: stored.id, key: acme.key }
}

async function read({ id, key }: { id: string; key: string }, headers: Record<string, string> = {}, method = 'GET') {
  const address = `${parley.url}/v1/calls/${id}/recording/peaks`
  const authorization = `Bearer ${key}`
  const answer = await fetch(address, { method, headers: { authorization, 'accept-encoding': '*;q=0', ...headers } })
  return { answer, body: new Uint8Array(await answer.arrayBuffer()) }
}

const peaksPath = (id: string) => join(folder, `${id}.peaks`)

t.test('getRecordingPeaks computes the waveform peaks of a recording that has none, and keeps them', async (t) => {
  const call = await recorded()
  const { answer, body } = await read(call)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/octet-stream')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  t.equal(answer.headers.get('content-encoding'), null)
  const header = new DataView(body.buffer)
  const pixels = Math.ceil(frames / 320)
  t.same(
    Array.from({ length: 6 }, (_, at) => header.getInt32(at * 4, true)),
    [2, 1, 16_000, 320, pixels, 2],
  )
  t.same([...new Int8Array(body.buffer, 24)], expectedPixels())
  const kept = readFileSync(peaksPath(call.id))
  t.ok(kept.equals(body))
  kept[24] = 99
  writeFileSync(peaksPath(call.id), kept)
  t.equal((await read(call)).body[24], 99, 'the kept peaks are served')
  writeFileSync(peaksPath(call.id), kept.subarray(0, -4))
  t.same((await read(call)).body, body, 'incomplete peaks are computed again')
  t.notOk(existsSync(`${peaksPath(call.id)}.part`))
})

t.test('getRecordingPeaks compresses if the client accepts it, and answers HEAD', async (t) => {
  const call = await recorded()
  const plain = await read(call)
  for (const accepted of ['gzip', 'br, gzip;q=0.5', 'GZIP']) {
    const response = await fetch(`${parley.url}/v1/calls/${call.id}/recording/peaks`, {
      headers: { authorization: `Bearer ${call.key}`, 'accept-encoding': accepted },
    })
    t.equal(response.headers.get('content-encoding'), 'gzip', accepted)
    t.match(response.headers.get('vary'), /Accept-Encoding/i)
    // fetch removes the compression.
    t.same(new Uint8Array(await response.arrayBuffer()), plain.body)
  }
  for (const accepted of ['br', 'gzip;q=0', 'gzip; q=0.0', 'identity'])
    t.equal((await read(call, { 'accept-encoding': accepted })).answer.headers.get('content-encoding'), null, accepted)
  const head = await read(call, {}, 'HEAD')
  t.same([head.answer.status, head.body.length], [200, 0])
  t.equal(head.answer.headers.get('content-length'), String(plain.body.length))
})

t.test('many requests for one recording at once get the same peaks', async (t) => {
  const call = await recorded()
  const answers = await Promise.all(Array.from({ length: 20 }, () => read(call)))
  t.same([...new Set(answers.map(({ answer }) => answer.status))], [200])
  t.same([...new Int8Array(answers[19]!.body.buffer, 24)], expectedPixels())
})

t.test('getRecordingPeaks answers RECORDING_NOT_AVAILABLE without a recording', async (t) => {
  const call = await recorded()
  await files.keepPeaks(call.id, Uint8Array.of(1))
  await files.remove(call.id)
  t.notOk(existsSync(peaksPath(call.id)), 'the peaks are removed with the recording')
  const { answer, body } = await read(call)
  t.equal(answer.status, 404)
  t.match(JSON.parse(Buffer.from(body).toString()), { code: 'RECORDING_NOT_AVAILABLE' })
  t.notOk(existsSync(peaksPath(call.id)))
})
