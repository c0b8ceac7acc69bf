/** Tests recordings in a bucket on a real S3 server. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { freshDataDir } from '../installation.ts'
import { openAdministration } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { type Running, startParley } from '../process/parley.ts'
import { call, loopbackProviders, Page } from '../session/voice-session.ts'
import { bucket, type Gateway, missing, startGateway } from './gateway.ts'

t.setTimeout(900_000)

type Event = { event_type: string; failure_cause: string | null }
const pathOf = (id: string) => `/v1/calls/${id}`
const localFile = (parley: Running, id: string) => path.join(parley.dataDir, 'recordings', `${id}.wav`)

async function open(t: Test, more: Record<string, string> = {}): Promise<{ gateway: Gateway; parley: Running }> {
  const gateway = await startGateway()
  t.teardown(() => gateway.stop())
  const parley = await serve(gateway, more)
  t.teardown(() => parley.remove())
  return { gateway, parley }
}

const serve = (gateway: Gateway, more: Record<string, string> = {}, dataDir = freshDataDir()) =>
  startParley({ PARLEY_PROVIDERS: loopbackProviders, ...gateway.env, ...more }, dataDir)

/** Makes a short call. Returns its id after its end. */
async function talk(parley: Running): Promise<string> {
  const page = await Page.join(parley)
  await page.ask('good morning')
  page.send({ type: 'end' })
  await until('the end', () => page.closed !== null)
  await until('the stored end', async () => typeof (await call(parley, pathOf(page.id))).json['ended_at'] === 'string')
  return page.id
}

const statusOf = async (parley: Running, id: string) => (await call(parley, pathOf(id))).json['recording_status']
const becomes = (parley: Running, id: string, status: string, limitMs = 20_000) =>
  until(`a recording that is ${status}`, async () => (await statusOf(parley, id)) === status, limitMs)

async function eventsOf(parley: Running, id: string): Promise<Event[]> {
  const { json } = await call(parley, `${pathOf(id)}/events`)
  return (json['events'] as Event[]).filter(({ event_type: type }) => type.startsWith('recording.'))
}

async function read(parley: Running, id: string, headers: Record<string, string> = {}, method = 'GET') {
  const authorization = `Bearer ${parley.key}`
  const url = `${parley.url}${pathOf(id)}/recording/audio`
  const answer = await fetch(url, { method, headers: { authorization, ...headers } })
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
}

/** Returns the recording's object key, which contains the id of the server's only organization. */
async function keyOf(parley: Running, id: string): Promise<string> {
  const { json } = await call(parley, '/v1/organization')
  return `calls/${String(json['id'])}/live/${id}.wav`
}

t.test('a recording is uploaded to the bucket and read from there', { skip: missing }, async (t) => {
  const { gateway, parley } = await open(t)
  const id = await talk(parley)
  await becomes(parley, id, 'ready')
  t.same(
    (await eventsOf(parley, id)).map(({ event_type: type }) => type),
    ['recording.recording', 'recording.uploading', 'recording.ready'],
  )
  const stored = readFileSync(gateway.fileOf(await keyOf(parley, id)))
  t.equal(stored.toString('latin1', 0, 4), 'RIFF')
  t.equal(stored.readUInt32LE(40), stored.length - 44, 'the header has the length')
  const { json } = await call(parley, pathOf(id))
  t.equal(json['recording_duration_ms'], Math.round((stored.length - 44) / 64))
  await until('the file of this machine to go', () => !existsSync(localFile(parley, id)))

  const whole = await read(parley, id)
  t.equal(whole.status, 200)
  t.ok(whole.body.equals(stored))
  t.equal(whole.headers.get('content-length'), String(stored.length))
  t.equal(whole.headers.get('content-type'), 'audio/wav')
  t.equal(whole.headers.get('content-disposition'), `inline; filename="call-${id}.wav"`)
  const etag = whole.headers.get('etag') ?? ''
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=100-199', 100, 200],
    [`bytes=${stored.length - 5}-`, stored.length - 5, stored.length],
    ['bytes=-7', stored.length - 7, stored.length],
  ] as const) {
    const part = await read(parley, id, { range, 'if-range': etag })
    t.same([part.status, part.headers.get('content-range')], [206, `bytes ${start}-${end - 1}/${stored.length}`])
    t.ok(part.body.equals(stored.subarray(start, end)), range)
  }
  t.equal((await read(parley, id, { range: 'bytes=0-0', 'if-range': '"other"' })).status, 200)
  t.equal((await read(parley, id, { range: `bytes=${stored.length}-` })).status, 416)
  const before = gateway.relay.downloaded
  const head = await read(parley, id, {}, 'HEAD')
  t.same([head.status, head.headers.get('content-length'), head.body.length], [200, String(stored.length), 0])
  t.ok(gateway.relay.downloaded - before < 2000, 'HEAD reads no recording')
})

t.test('a presigned link leads to the bucket and needs no API key', { skip: missing }, async (t) => {
  const { gateway, parley } = await open(t)
  const id = await talk(parley)
  await becomes(parley, id, 'ready')
  const stored = readFileSync(gateway.fileOf(await keyOf(parley, id)))
  const linkOf = async (expiresIn: number) =>
    String((await call(parley, `${pathOf(id)}/recording?expires_in=${expiresIn}`)).json['url'])
  const link = await linkOf(604_800)
  t.match(link, `http://127.0.0.1:${gateway.relay.port}/${bucket}/calls/`)
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers })
    return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) }
  }
  const whole = await get(link)
  t.equal(whole.status, 200)
  t.ok(whole.body.equals(stored))
  t.equal(whole.headers.get('content-type'), 'audio/wav')
  t.equal(whole.headers.get('content-disposition'), `inline; filename="call-${id}.wav"`)
  const part = await get(link, { range: 'bytes=10-19' })
  t.equal(part.status, 206)
  t.ok(part.body.equals(stored.subarray(10, 20)))
  const signature = /X-Amz-Signature=([0-9a-f]+)/.exec(link)?.[1] ?? ''
  const forged = signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))
  t.equal((await get(link.replace(signature, forged))).status, 403)
  t.equal((await get(link.replace('X-Amz-Expires=604800', 'X-Amz-Expires=604799'))).status, 403)
  t.equal((await get(link.replace(id, '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'))).status, 403)
  const short = await linkOf(1)
  await until('the link to expire', async () => (await get(short)).status === 403)
})

t.test('the next process completes the uploads of a killed process', { skip: missing }, async (t) => {
  const { gateway, parley } = await open(t)
  gateway.relay.uploadsLeft = 1000
  const id = await talk(parley)
  await until('the upload to begin', () => gateway.relay.uploadsLeft < 0)
  t.equal(await statusOf(parley, id), 'uploading')
  const live = await Page.join(parley)
  await live.ask('are you there')
  await until('audio on the disk', () => existsSync(localFile(parley, live.id)))
  // The recorder writes to the disk every five seconds.
  await until('a flush', () => readFileSync(localFile(parley, live.id)).length > 1000, 10_000)
  await parley.kill()
  t.ok(existsSync(localFile(parley, id)))
  t.notOk(existsSync(gateway.fileOf(`calls/${id}`)))
  gateway.relay.reset()
  gateway.relay.uploadsLeft = Number.POSITIVE_INFINITY
  const next = await serve(gateway, {}, parley.dataDir)
  t.teardown(() => next.remove())
  for (const each of [id, live.id]) {
    await becomes(next, each, 'ready', 60_000)
    const { status, body } = await read(next, each)
    t.equal(status, 200)
    t.equal(body.readUInt32LE(40), body.length - 44, 'the header has the length')
    t.equal((await eventsOf(next, each)).filter(({ event_type: type }) => type === 'recording.ready').length, 1)
    await until('the file of this machine to go', () => !existsSync(localFile(next, each)))
  }
  t.match((await call(next, pathOf(live.id))).json, { status: 'failed', end_reason: 'worker_lost' })
})

t.test(
  'while the bucket is unreachable, calls end without delay, and recordings are uploaded afterwards',
  { skip: missing },
  async (t) => {
    const { gateway, parley } = await open(t)
    gateway.relay.cut()
    const id = await talk(parley)
    t.match((await call(parley, pathOf(id))).json, { status: 'completed', end_reason: 'user_hangup' })
    await until('a failed upload', () => parley.output().includes('could not be uploaded'))
    t.equal(await statusOf(parley, id), 'uploading')
    const answer = await read(parley, id)
    t.same([answer.status, answer.headers.get('retry-after')], [404, '5'])
    t.match(JSON.parse(answer.body.toString()), { code: 'RECORDING_NOT_AVAILABLE', error: /uploading/ })
    t.equal((await call(parley, `${pathOf(id)}/report`)).status, 200)
    await gateway.relay.repair()
    await becomes(parley, id, 'ready', 30_000)
    t.equal((await read(parley, id)).status, 200)
    // The bucket becomes unreachable again.
    gateway.relay.cut()
    const away = await read(parley, id)
    t.same([away.status, away.headers.get('retry-after')], [503, '1'])
    t.match(JSON.parse(away.body.toString()), { code: 'SERVICE_UNAVAILABLE', error: /bucket/ })
    t.equal((await call(parley, `${pathOf(id)}/recording`)).status, 503)
    await gateway.relay.repair()
    rmSync(gateway.fileOf(await keyOf(parley, id)))
    const gone = await read(parley, id)
    t.equal(gone.status, 404)
    t.match(JSON.parse(gone.body.toString()), { code: 'RECORDING_NOT_AVAILABLE', error: /removed/ })
    t.equal((await call(parley, `${pathOf(id)}/recording?expires_in=60`)).status, 404)
  },
)

t.test('an upload that never succeeds is reported as failed in the end', { skip: missing }, async (t) => {
  const { gateway, parley } = await open(t, { PARLEY_S3_UPLOAD_MS: '3000' })
  gateway.relay.cut()
  const id = await talk(parley)
  await becomes(parley, id, 'failed', 30_000)
  t.same(
    (await eventsOf(parley, id)).map(({ event_type: type, failure_cause: cause }) => [type, cause]),
    [
      ['recording.recording', null],
      ['recording.uploading', null],
      ['recording.failed', 'upload_failed'],
    ],
  )
  t.ok(existsSync(localFile(parley, id)), 'the file stays for the operator')
  await gateway.relay.repair()
  t.match(JSON.parse((await read(parley, id)).body.toString()), { code: 'RECORDING_NOT_AVAILABLE', error: /failed/ })
})

const mebibyte = 1_048_576

/** Stores a recording of 64 MiB (17 minutes), as if a dead process on this machine had left it. */
async function leaveLarge(
  t: Test,
  parley: Running,
): Promise<{ id: string; target: { url: string; key: string }; audio: Buffer }> {
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  const target = await admin.organization('large')
  const audio = Buffer.alloc(64 * mebibyte)
  for (let at = 0; at < audio.length; at += 4) audio.writeUInt32LE(at, at)
  const stored = newCall(target.id)
  const { id } = stored
  const file = await createRecordingFiles(path.join(parley.dataDir, 'recordings')).create(id)
  await file.append(wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 2 }, null))
  await file.append(audio)
  await file.close()
  await admin.store.calls.insert(stored, {})
  const atMs = Date.now()
  const recording = (status: 'recording' | 'uploading'): CallEntry => {
    return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: null }
  }
  await admin.store.calls.append(stored, id, [
    { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs: atMs } },
    recording('recording'),
    recording('uploading'),
    {
      kind: 'move',
      event: newEvent('call.completed'),
      to: 'completed',
      change: { endedAtMs: atMs, endReason: 'user_hangup' },
    },
  ])
  return { id, target: { url: parley.url, key: target.key }, audio }
}

t.test('a large recording is uploaded and served in pieces', { skip: missing }, async (t) => {
  const { gateway, parley } = await open(t)
  const { relay } = gateway
  const rssBefore = memoryOf(parley)
  const { id, target, audio } = await leaveLarge(t, parley)
  await until('the upload', async () => (await call(target, pathOf(id))).json['recording_status'] === 'ready', 60_000)
  t.equal((await call(target, pathOf(id))).json['recording_duration_ms'], audio.length / 64)
  t.ok(relay.uploaded > 64 * mebibyte && relay.uploaded < 66 * mebibyte, `${relay.uploaded} bytes were sent`)

  const { host, port } = splitUrl(parley.url)
  const request = `GET ${pathOf(id)}/recording/audio HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${target.key}\r\nConnection: close\r\n\r\n`
  const socket = net.connect(port, host)
  const beforeBytes = relay.downloaded
  socket.write(request)
  await new Promise((resolve) => socket.once('readable', resolve))
  let downloaded = -1
  while (downloaded !== relay.downloaded) {
    downloaded = relay.downloaded
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  t.ok(
    downloaded - beforeBytes < 32 * mebibyte,
    `${downloaded - beforeBytes} bytes were read for a client that takes none`,
  )
  // The reset ends the waiting read at the bucket's server.
  relay.reset()
  const received: Buffer[] = []
  for await (const chunk of socket) received.push(chunk as Buffer)
  const answer = Buffer.concat(received)
  const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4)
  t.equal(body.length, audio.length + 44)
  t.ok(body.subarray(44).equals(audio), 'the read went on where it was')
  t.ok(memoryOf(parley) - rssBefore < 200 * mebibyte, `${(memoryOf(parley) - rssBefore) / mebibyte} MiB more memory`)

  const leaving = net.connect(port, host)
  leaving.write(request)
  await new Promise((resolve) => leaving.once('readable', resolve))
  leaving.destroy()
  let last = -1
  await until('the read to end', async () => {
    const isStill = last === relay.downloaded
    last = relay.downloaded
    await new Promise((resolve) => setTimeout(resolve, 200))
    return isStill
  })
  t.ok(relay.downloaded - downloaded < 2 * 64 * mebibyte, 'the rest is not read')
})

function splitUrl(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port) }
}

function memoryOf({ pid }: Running): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}
