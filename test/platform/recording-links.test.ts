/** Links to recordings that need no key. */
import t from 'tap'
import { createRecordingLinks, linkLifeSMax } from '../../domain/calls/recording-links.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { newCall, newEvent } from '../calls/call.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const masterKey = 'a master key of thirty-two characters'
const previousKey = 'the master key that was used before this'
const { parley, admin } = await startAdministered(t, {
  PARLEY_MASTER_KEY: masterKey,
  PARLEY_PREVIOUS_MASTER_KEYS: previousKey,
  PARLEY_EDGE_QUOTA: '1000',
  PARLEY_EDGE_WINDOW_S: '86400',
})
const acme = await admin.organization('links')
const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at % 251)

async function recorded(): Promise<string> {
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const steps = (['recording', 'ready'] as const).map((status): CallEntry => {
    return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: 10 }
  })
  await admin.store.calls.append(stored, stored.id, steps)
  const file = await createRecordingFiles(`${parley.dataDir}/recordings`).create(stored.id)
  await file.append(bytes)
  await file.close()
  return stored.id
}

const linkOf = async (id: string, expiresIn: number) =>
  (await call(acme, 'GET', `/v1/calls/${id}/recording?expires_in=${expiresIn}`)).json<{
    url: string
    expires_at: string
  }>()

async function read(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const answer = await fetch(url, { method, headers })
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) }
}

async function codeAt(url: string) {
  const { status, body, headers } = await read(url)
  t.equal(headers.get('cache-control'), null)
  const { code, requestId } = JSON.parse(Buffer.from(body).toString()) as { code: string; requestId: string }
  t.match(requestId, /^req_/)
  return `${status} ${code}`
}

t.test('a recording link serves the recording without a key, with ranges and HEAD', async (t) => {
  const id = await recorded()
  const beforeMs = Date.now()
  const { url, expires_at: expiresAt } = await linkOf(id, 3600)
  t.match(url, new RegExp(`^${parley.url}/recordings/${id}\\.wav\\?expires=\\d+&signature=[\\w-]{43}$`))
  t.equal(Number(new URL(url).searchParams.get('expires')), Date.parse(expiresAt) / 1000)
  t.ok(Math.abs(Date.parse(expiresAt) - beforeMs - 3_600_000) < 10_000)
  const whole = await read(url)
  t.equal(whole.status, 200)
  t.same(whole.body, bytes)
  for (const [name, value] of Object.entries({
    'content-type': 'audio/wav',
    'content-length': '1000',
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-disposition': `inline; filename="call-${id}.wav"`,
    'access-control-allow-origin': null,
  }))
    t.equal(whole.headers.get(name), value, name)
  t.ok(whole.headers.has('ratelimit'), 'downloads count against the quota')
  const etag = whole.headers.get('etag') ?? ''
  const part = await read(url, { range: 'bytes=10-19', 'if-range': etag })
  t.same([part.status, part.headers.get('content-range')], [206, 'bytes 10-19/1000'])
  t.same(part.body, bytes.subarray(10, 20))
  t.equal((await read(url, { range: 'bytes=10-19', 'if-range': `W/${etag}` })).status, 200)
  const beyond = await read(url, { range: 'bytes=1000-' })
  t.same([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */1000'])
  const head = await read(url, {}, 'HEAD')
  t.same([head.status, head.headers.get('content-length'), head.body.length], [200, '1000', 0])
  t.equal((await read(url, {}, 'POST')).status, 405)
})

t.test('a recording link is valid for at most seven days', async (t) => {
  const id = await recorded()
  t.equal((await read((await linkOf(id, linkLifeSMax)).url)).status, 200)
  for (const wrong of ['0', '-1', String(linkLifeSMax + 1), '1.5', 'x', '', '1&expires_in=2']) {
    const answer = faultOf(await call(acme, 'GET', `/v1/calls/${id}/recording?expires_in=${wrong}`))
    t.match(answer, { status: 400, code: 'VALIDATION_ERROR' }, wrong)
  }
})

t.test('a changed recording link is not found, and an expired recording link is refused as expired', async (t) => {
  const [id, other] = [await recorded(), await recorded()]
  const { url } = await linkOf(id, 3600)
  const signature = new URL(url).searchParams.get('signature') ?? ''
  const expires = new URL(url).searchParams.get('expires') ?? ''
  const at = (path: string) => `${parley.url}${path}`
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // This signature ends with another letter, but decodes to the same bytes.
  const sameBytes = signature.slice(0, -1) + letters[letters.indexOf(signature.slice(-1)) ^ 1]
  const forged = {
    'of another call': url.replace(id, other),
    'of no call': url.replace(id, '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'),
    'prolonged by a second': url.replace(expires, String(Number(expires) + 1)),
    'in the past': url.replace(expires, '1'),
    'with a zero before its time': url.replace(expires, `0${expires}`),
    'with a sign': url.replace(expires, `%2B${expires}`),
    'with an exponent': url.replace(expires, '1e12'),
    'without a time': at(`/recordings/${id}.wav?signature=${signature}`),
    'without a signature': at(`/recordings/${id}.wav?expires=${expires}`),
    'with an empty signature': at(`/recordings/${id}.wav?expires=${expires}&signature=`),
    'with half a signature': url.slice(0, -20),
    'with a padded signature': `${url}=`,
    'with a long signature': `${url}AAAA`,
    'with another signature': url.replace(signature, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`),
    'with a signature of the same bytes': url.replace(signature, sameBytes),
    'without anything': at(`/recordings/${id}.wav`),
    'in upper case': url.replace(id, id.toUpperCase()),
    'of another type': url.replace('.wav', '.mp3'),
    'of a folder above': url.replace(`${id}.wav`, `..%2Frecordings%2F${id}.wav`),
    'signed with another master key': at(
      createRecordingLinks({ current: 'x'.repeat(40), previous: [] }, clockAt(0)).sign(id, Number(expires)),
    ),
  }
  for (const [name, address] of Object.entries(forged)) t.equal(await codeAt(address), '404 NOT_FOUND', name)
  const signed = (expiresS: number, key = masterKey) =>
    at(createRecordingLinks({ current: key, previous: [] }, clockAt(0)).sign(id, expiresS))
  const nowS = Math.floor(Date.now() / 1000)
  t.equal(await codeAt(signed(nowS - 1)), '410 LINK_EXPIRED')
  t.equal(await codeAt(signed(1)), '410 LINK_EXPIRED')
  t.equal((await read(signed(nowS + 60))).status, 200, 'the master key alone decides')
  t.equal((await read(signed(nowS + 60, previousKey))).status, 200, 'links of a previous master key stay good')
  t.equal(await codeAt(signed(nowS - 60, previousKey)), '410 LINK_EXPIRED')
  const gone = await recorded()
  const link = (await linkOf(gone, 60)).url
  await createRecordingFiles(`${parley.dataDir}/recordings`).remove(gone)
  t.equal(await codeAt(link), '404 NOT_FOUND', 'the recording is gone')
})

t.test('a recording link is created only if the recording is ready and belongs to the organization', async (t) => {
  const unready = newCall(acme.id)
  await admin.store.calls.insert(unready, {})
  const path = `/v1/calls/${unready.id}/recording?expires_in=60`
  t.match(faultOf(await call(acme, 'GET', path)), { status: 404, code: 'RECORDING_NOT_AVAILABLE' })
  const id = await recorded()
  const stranger = await admin.organization('stranger')
  t.match(faultOf(await call(stranger, 'GET', `/v1/calls/${id}/recording?expires_in=60`)), {
    status: 404,
    code: 'NOT_FOUND',
  })
})

const clockAt = (nowMs: number) => ({ nowMs: () => nowMs, monotonicMs: () => 0, after: () => () => {} })

t.test('a recording link works up to its last second', (t) => {
  const id = '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'
  const keys = { current: masterKey, previous: [] }
  const url = new URL(createRecordingLinks(keys, clockAt(0)).sign(id, 1000), 'http://127.0.0.1')
  const [expires, signature] = [url.searchParams.get('expires') ?? '', url.searchParams.get('signature') ?? '']
  const stateAt = (nowMs: number) => createRecordingLinks(keys, clockAt(nowMs)).check(id, expires, signature)
  t.same([stateAt(0), stateAt(999_999), stateAt(1_000_000)], ['good', 'good', 'expired'])
  t.equal(createRecordingLinks(keys, clockAt(2_000_000)).check(id, '999', signature), 'forged', 'never called expired')
  t.end()
})

t.test("a disabled organization's recording link is refused until the organization is enabled again", async (t) => {
  const { url } = await linkOf(await recorded(), 3600)
  await admin.store.organizations.change(acme.id, { isDisabled: true })
  t.equal(await codeAt(url), '404 NOT_FOUND')
  await admin.store.organizations.change(acme.id, { isDisabled: false })
  t.equal((await read(url)).status, 200)
})
