/**
 * Tests sessions with hostile clients: floods, sockets that replace each other, clients that never read, and garbage
 * frames. During the floods the server must answer other clients, its memory must stay bounded, and each session must
 * end with the right end reason.
 */
import net from 'node:net'
import type { Test } from 'tap'
import { call, loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { startAttacked } from './attacked-server.ts'
import { until } from './machine.ts'

const queuedMax = 40
const { parley, hostile } = await startAttacked({
  PARLEY_PROVIDERS: loopbackProviders,
  PARLEY_SESSIONS_QUEUED_MAX: String(queuedMax),
  PARLEY_SESSIONS_RECONNECT_MS: '1000',
})
const { port } = new URL(parley.url)

async function endOf(page: Page): Promise<{ status: unknown; reason: unknown }> {
  let found: Record<string, unknown> = {}
  await until('the call has ended', async () => {
    found = (await call(parley, `/v1/calls/${page.id}`)).json
    return typeof found['ended_at'] === 'string'
  })
  return { status: found['status'], reason: found['end_reason'] }
}

async function hangUp(t: Test, page: Page): Promise<void> {
  page.send({ type: 'end' })
  t.match(await page.first('end'), { reason: 'user_hangup' })
}

hostile('a flood of sessions stops at sessions.queuedMax, and ended or expired sessions make room', async (t) => {
  const start = (ttlSeconds: number) => call(parley, '/v1/sessions', { intent: { language: 'en' }, ttlSeconds })
  const answers = await Promise.all(Array.from({ length: 3 * queuedMax }, () => start(600)))
  t.same([...new Set(answers.map(({ status }) => status))].sort(), [201, 429])
  // If starts come at once, a few may be refused although the limit is not reached, so the last sessions are started
  // one by one.
  const later = []
  do later.push(await start(600))
  while (later.at(-1)?.status === 201)
  t.equal(later.at(-1)?.status, 429)
  const isTaken = ({ status }: { status: number }) => status === 201
  const taken = [...answers, ...later].filter(isTaken).map(({ json }) => json['sessionId'] as string)
  t.equal(taken.length, queuedMax)
  const end = (id: string) => call(parley, `/v1/calls/${id}/end`, {})
  const [first = '', ...others] = taken
  await end(first)
  let short: Awaited<ReturnType<typeof start>> | undefined
  await until('there is room for one', async () => {
    short = await start(3)
    return short.status === 201
  })
  // All other sessions last longer than this test, so a start succeeds only after the short session's end.
  let next: Awaited<ReturnType<typeof start>> | undefined
  await until('there is room again', async () => {
    next = await start(600)
    return next.status === 201
  })
  const expired = await call(parley, `/v1/calls/${short?.json['sessionId'] as string}`)
  t.match(expired.json, { status: 'cancelled', end_reason: 'not_joined' })
  for (const id of [...others, next?.json['sessionId'] as string]) await end(id)
})

hostile('a session has 32 event streams at most, even if 200 open at once, and closed streams make room', async (t) => {
  const page = await Page.join(parley)
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${parley.key}` }
  const open = () => fetch(`${parley.url}/v1/sessions/${page.id}/stream`, { headers, signal: leaving.signal })
  const answers = await Promise.all(Array.from({ length: 200 }, open))
  t.equal(answers.filter(({ status }) => status === 200).length, 32)
  t.equal(answers.filter(({ status }) => status === 429).length, 168)
  await page.ask('the session goes on')
  leaving.abort()
  await until('there is room again', async () => {
    const again = await fetch(`${parley.url}/v1/sessions/${page.id}/stream`, { headers })
    await again.body?.cancel()
    return again.status === 200
  })
  await hangUp(t, page)
})

hostile('clients that never read their event streams do not delay the session', async (t) => {
  const page = await Page.join(parley)
  const sockets = Array.from({ length: 32 }, () => {
    const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {})
    socket.write(
      `GET /v1/sessions/${page.id}/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${parley.key}\r\n\r\n`,
    )
    return socket.pause()
  })
  for (let at = 0; at < 45; at++) page.send({ type: 'contextual_update', text: 'x'.repeat(8192) })
  await until('the notes are stored', async () => {
    const { json } = await call(parley, `/v1/sessions/${page.id}/transcript`)
    return (json['entries'] as object[]).length === 45
  })
  await hangUp(t, page)
  for (const socket of sockets) socket.destroy()
  t.same(await endOf(page), { status: 'completed', reason: 'user_hangup' })
})

hostile('a session survives clients that keep taking it over from each other', async (t) => {
  const started = await startSession(parley)
  let joins = 0
  const fight = async () => {
    while (joins < 20) {
      const page = new Page(started)
      await page.first('ready').catch(() => {})
      joins += 1
      await page.close()
    }
  }
  await Promise.all([fight(), fight(), fight()])
  const last = new Page(started)
  t.match(await last.first('ready'), { resumed: true })
  await last.ask('it still answers')
  await hangUp(t, last)
  t.same(await endOf(last), { status: 'completed', reason: 'user_hangup' })
})

hostile('a client that floods a session with typed turns is disconnected', async (t) => {
  const page = await Page.join(parley)
  for (let at = 0; at < 60; at++) page.send({ type: 'user_message', text: '😀'.repeat(4096) })
  t.match(await page.first('error'), { code: 'RATE_LIMITED', fatal: true })
  t.same(await endOf(page), { status: 'completed', reason: 'user_disconnected' })
  const { json } = await call(parley, `/v1/sessions/${page.id}/transcript`)
  const turns = json['entries'] as { source: string }[]
  t.equal(turns.filter(({ source }) => source === 'user').length, 50, 'all that were taken are in the transcript')
})

/**
 * The sizes of sent frames in bytes, each with the close code. Null if the frame is accepted. The sample rate is
 * 24,000.
 */
const audio: [bytes: number, closed: number | null][] = [
  [0, null],
  [1, 1008],
  [2, null],
  [9600, null],
  [9601, 1008],
  [9602, 1008],
  [262_144, 1008],
  [262_145, 1006],
]
hostile('audio frames of an invalid size close the socket', async (t) => {
  for (const [bytes, closed] of audio) {
    const page = await Page.join(parley)
    page.socket.send(Buffer.alloc(bytes, 0xa5))
    if (closed === null) await page.ask('still here')
    else await until('the socket has closed', () => page.closed !== null)
    t.equal(page.closed, closed, `${bytes} bytes of audio`)
    if (closed === 1008) t.match(page.all('error'), [{ code: 'INVALID_FRAME', fatal: true }])
    await page.close()
    t.same(await endOf(page), { status: 'completed', reason: 'user_disconnected' })
  }
})

hostile('malformed text frames close the socket', async (t) => {
  for (const text of [
    '['.repeat(262_144),
    `{"type":"user_message","text":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    `{"type":"ping","${'k'.repeat(250_000)}":1}`,
    '{"type":"played","mark":"9:9e999"}'.replace('played', '__proto__'),
    '\0',
    'null',
  ]) {
    const page = await Page.join(parley)
    page.socket.send(text)
    await until('the socket has closed', () => page.closed !== null)
    t.equal(page.closed, 1008, text.slice(0, 40))
    t.match(page.all('error'), [{ code: 'INVALID_FRAME', fatal: true }])
  }
})

hostile('marks for audio that was not yet sent do not count as played', async (t) => {
  const page = await Page.join(parley)
  page.send({ type: 'user_message', text: Array.from({ length: 40 }, (_, at) => `word ${at}`).join(' ') })
  // Waits for two seconds of audio, so that some words have been played before the end.
  await until('the agent speaks', () => page.audioBytes > 96_000)
  for (const mark of ['1:99999999', '2:0', '1:-1', '1:NaN', '99:1e9', ':', '__proto__:1'])
    page.send({ type: 'played', mark })
  page.send({ type: 'played', mark: null, playedMs: 86_400_000, cleared: true })
  await hangUp(t, page)
  await endOf(page)
  const { json } = await call(parley, `/v1/sessions/${page.id}/transcript`)
  const entries = json['entries'] as Record<string, string | null>[]
  const turns = entries.filter((turn) => turn['source'] === 'agent')
  t.equal(turns.length, 1)
  for (const turn of turns) t.ok((turn['heardText'] ?? '').length < (turn['text'] ?? '').length, 'it was cut off')
})

hostile('tool arguments are refused if the pattern in their schema takes too long to match', async (t) => {
  // The scripted LLM sends the schema's default as the argument, and matching it with this pattern takes far longer
  // than the limit.
  const a = { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(40)}!` }
  const parameters = { type: 'object', properties: { a }, required: ['a'] }
  const tools = Array.from({ length: 64 }, (_, at) => {
    return { name: `t${at}`, description: 'd', source: { kind: 'inline' }, parameters }
  })
  const allowedProviders = { stt: ['loopback'], tts: ['loopback'] }
  const page = await Page.join(parley, { tools, constraints: { allowedProviders }, llm: { model: 'local:scripted' } })
  page.send({ type: 'user_message', text: 'use t7 now' })
  await until('the arguments are refused', () => page.all('tool_call').some(({ status }) => status === 'failed'))
  await hangUp(t, page)
})
