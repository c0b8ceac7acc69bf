/** getCallBundle over HTTP: a call that is over as one tar archive. */
import { join } from 'node:path'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { readTar } from '../../cli/tar.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { recordingLayout } from '../../domain/records/recording.ts'
import { redacted } from '../../handlers/platform/redacted.ts'
import { type TarFile, tarOf } from '../../runtime/values/tar.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { newCall, newEvent, newSpan, newTurn } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const audio = Buffer.concat([wavHeader(recordingLayout, 7), Buffer.alloc(7, 1)])
const secret = 'sk_live_k4n4ry'
const nobody = '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70'

const complete = { transcript: true, events: true, spans: true, recording: true }

const ended: readonly CallEntry[] = [
  { kind: 'move', event: newEvent('call.in_progress'), to: 'in_progress', change: { startedAtMs: Date.now() } },
  { kind: 'turn', turn: newTurn({ index: 0, text: `My key is ${secret}.` }) },
  {
    ...{ kind: 'move', event: newEvent('call.completed'), to: 'completed' },
    change: { endedAtMs: Date.now(), endReason: 'user_hangup' },
  },
]
const recorded = (['recording', 'ready'] as const).map((status): CallEntry => {
  return { kind: 'recording', event: newEvent(`recording.${status}`), status, durationMs: 10 }
})

async function stored(organizationId: string, entries: readonly CallEntry[]): Promise<string> {
  const made = newCall(organizationId, { metadata: { cart: '4711', api_key: 'k4n4ry' } })
  await admin.store.calls.insert(made, {})
  await admin.store.calls.append(made, made.id, entries)
  return made.id
}

async function record(id: string): Promise<void> {
  const file = await createRecordingFiles(join(parley.dataDir, 'recordings')).create(id)
  await file.append(audio)
  await file.close()
}

async function download({ url, key }: Target, id: string, query = '', method = 'GET') {
  const answer = await fetch(`${url}/v1/calls/${id}/bundle${query}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  })
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const jsonIn = (files: Map<string, Buffer>, name: string): unknown => JSON.parse(files.get(name)?.toString() ?? 'null')

/** The analysis goes on in the background and adds events. */
function withoutAnalysis(list: unknown): object[] {
  const { events } = list as { events: { event_type: string }[] }
  return events.filter((event) => !event.event_type.startsWith('analysis.'))
}

t.test('getCallBundle answers the data and the audio of a call that is over as an archive', async (t) => {
  const acme = await admin.organization('with a bundle')
  const id = await stored(acme.id, [...recorded, ...ended])
  await record(id)
  const { answer, bytes } = await download(acme, id)
  t.equal(answer.status, 200)
  t.match(Object.fromEntries(answer.headers), {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename="call-${id}.tar"`,
    'content-length': String(bytes.length),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  const files = readTar(bytes)
  const names = ['bundle', 'call', 'config', 'transcript', 'events', 'spans', 'report']
  t.same([...files.keys()], [...names.map((name) => `${name}.json`), 'recording.wav'])
  t.match(jsonIn(files, 'bundle.json'), { version: 1, call_id: id, parley: /^\d/, saved_at: /Z$/, complete })
  const whole = (await call(acme, 'GET', `/v1/calls/${id}`)).json<Record<string, unknown>>()
  t.match(jsonIn(files, 'call.json'), { id, metadata: { cart: '4711', api_key: '[redacted]' } })
  t.same(jsonIn(files, 'config.json'), whole['pipeline_config'])
  t.match(jsonIn(files, 'transcript.json'), { entries: [{ text: 'My key is [redacted].' }] })
  t.same(
    withoutAnalysis(jsonIn(files, 'events.json')),
    withoutAnalysis((await call(acme, 'GET', `/v1/calls/${id}/events`)).json()),
  )
  t.same(files.get('recording.wav'), audio)
  t.notOk(bytes.includes('k4n4ry'))
  const head = await download(acme, id, '', 'HEAD')
  t.match([head.answer.status, head.answer.headers.get('content-length')], [200, /^\d+$/])
  t.equal(head.bytes.length, 0)
})

t.test('getCallBundle leaves credentials in the archive with redact=false', async (t) => {
  const acme = await admin.organization('with a whole bundle')
  const files = readTar((await download(acme, await stored(acme.id, ended), '?redact=false')).bytes)
  t.match(jsonIn(files, 'call.json'), { metadata: { cart: '4711', api_key: 'k4n4ry' } })
  t.match(jsonIn(files, 'transcript.json'), { entries: [{ text: `My key is ${secret}.` }] })
  t.notOk(files.has('recording.wav'), 'the call was not recorded')
})

t.test('getCallBundle refuses a live call', async (t) => {
  const acme = await admin.organization('without a bundle')
  const bundle = (id: string) => call(acme, 'GET', `/v1/calls/${id}/bundle`)
  const live = await stored(acme.id, ended.slice(0, 2))
  t.same(faultOf(await bundle(live)), { status: 409, code: 'CALL_NOT_ENDED' })
})

t.test('getCallBundle leaves out a recording that is lost, and bundle.json says so', async (t) => {
  const acme = await admin.organization('with a lost recording')
  const { answer, bytes } = await download(acme, await stored(acme.id, [...recorded, ...ended]))
  t.equal(answer.status, 200)
  const files = readTar(bytes)
  t.notOk(files.has('recording.wav'))
  t.match(jsonIn(files, 'call.json'), { recording_status: 'ready' })
  t.match(jsonIn(files, 'bundle.json'), { complete: { ...complete, recording: false } })
})

t.test('if a call has more than 500 spans, bundle.json says that its spans are incomplete', async (t) => {
  const acme = await admin.organization('with many spans')
  const spans = Array.from({ length: 501 }, (_, at): CallEntry => {
    return { kind: 'span', span: newSpan({ id: `span-${at}`, startMs: at }) }
  })
  const files = readTar((await download(acme, await stored(acme.id, [...spans, ...ended]))).bytes)
  t.match(jsonIn(files, 'bundle.json'), { complete: { ...complete, spans: false } })
})

t.test(
  'getCallBundle writes a call with long texts in pieces, without secrets in arguments and results of tools',
  async (t) => {
    const acme = await admin.organization('with a long call')
    const results = Array.from({ length: 8 }, (_, at) => ({ password: [at], note: 'eyJ-'.repeat(4000) }))
    const turns = results.map((result, index): CallEntry => {
      const toolCalls = [
        {
          id: `t${index}`,
          name: 'look',
          args: JSON.stringify(result),
          status: 'completed' as const,
          result: JSON.stringify(result),
        },
      ]
      return { kind: 'turn', turn: newTurn({ index, text: 'eyJ-'.repeat(4000), toolCalls }) }
    })
    const id = await stored(acme.id, [...turns, ...ended.filter(({ kind }) => kind === 'move')])
    const files = readTar((await download(acme, id)).bytes)
    const { transcript } = (await call(acme, 'GET', `/v1/calls/${id}`)).json<{ transcript: { entries: object[] } }>()
    t.same(jsonIn(files, 'transcript.json'), redacted(transcript))
    t.equal(files.get('transcript.json')?.toString(), `${JSON.stringify(redacted(transcript), null, 2)}\n`)
    t.notMatch(files.get('transcript.json')?.toString(), /\[0\]|\[\s*0\s*\]/)
  },
)

t.test(
  'a process holds a few bundles at once, and refuses more until one is sent or its reader has left',
  async (t) => {
    const acme = await admin.organization('with many readers')
    const id = await stored(acme.id, ended)
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await download(acme, id)).answer.status))
    t.same([...new Set(statuses)].toSorted(), [200, 503])
    for (let i = 0; i < 10; i++) {
      t.equal((await download(acme, id, '', 'HEAD')).answer.status, 200)
      t.equal((await download(acme, nobody)).answer.status, 404)
    }
    t.equal((await download(acme, id)).answer.status, 200)
  },
)

t.test('if a person downloads the bundle of a call, the audit log has an event', async (t) => {
  const acme = await admin.organization('with an export', { scopes: ['platform', 'admin'] })
  const id = await stored(acme.id, ended)
  const email = `member@${acme.id}.example`.toLowerCase()
  await admin.store.users.create(acme.id, email, 'member')
  const token = await admin.store.users.issue(acme.id, email, 'user_token')
  t.equal((await download({ ...acme, key: token?.secret ?? '' }, id)).answer.status, 200)
  t.equal((await download(acme, id)).answer.status, 200, 'programs are not in the log')
  const { events } = (await call(acme, 'GET', '/v1/audit-events?action=call.exported')).json<{ events: object[] }>()
  t.match(events, [{ actor: { type: 'user', name: email }, target: { type: 'call', id } }])
  t.equal(events.length, 1)
})

t.test('files of any length are unpacked from an archive unchanged', async (t) => {
  const entries = [0, 1, 511, 512, 513].map((length) => ({
    name: `${length}.bin`,
    bytes: Buffer.alloc(length, length),
  }))
  const files = entries.map(({ name, bytes }): TarFile => ({ name, size: bytes.length, read: () => [bytes] }))
  const { size, bytes } = tarOf(files, 0)
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  const archive = Buffer.concat(pieces)
  t.equal(archive.length, size)
  t.same(
    [...readTar(archive)],
    entries.map(({ name, bytes }) => [name, bytes]),
  )
})
