/**
 * Tests failures during one request: the process goes on, the request ends with an error response, and the next request
 * is served.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { descendants, freePort, until } from '../process/machine.ts'
import { metric } from '../process/metrics.ts'
import { startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { ownServer } from '../server.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import {
  type Answer,
  ask,
  form,
  postJson,
  responses,
  speech,
  transcribe,
  transcriptionParts,
  transcriptions,
} from './requests.ts'

const bodyTimeoutMs = 700
const stub = await startStubOpenAi()
const adminPort = await freePort()
t.teardown(() => stub.close())
/** Child processes started by shared servers in other test files. */
const childrenBefore = descendants(process.pid)
const parley = await ownServer(t, {
  PARLEY_ADMIN_PORT: String(adminPort),
  PARLEY_LIMITS_BODY_TIMEOUT_MS: String(bodyTimeoutMs),
  PARLEY_LOCAL_QUEUE_MAX: '1',
  PARLEY_CIRCUIT_FAILURES_MAX: '1000',
  PARLEY_PROVIDERS: JSON.stringify([
    {
      id: 'mock',
      adapter: 'openai',
      baseUrl: `${stub.url}/v1`,
      apiKey: 'k',
      models: { llm: ['mock'], stt: ['mock-stt'], tts: ['mock-tts'] },
    },
  ]),
})

const prompt = readFixture('privacy-prompt')
const telephone = { audio: { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 } }
/** About seven minutes long, so the recognizer is busy for seconds. */
const long = Buffer.concat(Array.from({ length: 80 }, () => [prompt.subarray(44), new Uint8Array(8000)]).flat())
const manySentences = 'One sentence follows the other, and nobody listens. '.repeat(300)
const pinned = (model: string) => ({ routing: { mode: 'explicit', model } })
const stt = pinned('local/moonshine-tiny-en')
const authorization = `Bearer ${parley.key}`

const inflight = () => metric(adminPort, 'parley_requests_inflight')
const allEnded = () => until('nothing is in flight', async () => (await inflight()) === 0)

/** Asserts that the same process answers all three operations. */
async function serves(t: Test): Promise<void> {
  const [transcript, answer, spokenAudio] = await Promise.all([
    transcribe(parley, prompt, stt),
    postJson(parley, responses, ask('hello', pinned('mock/mock'))),
    postJson(parley, speech, { input: 'Hello.', ...pinned('local/flite') }),
  ])
  t.same([transcript.status, answer.status, spokenAudio.status], [200, 200, 200], 'the next ones are served')
  t.equal(wordErrors(spoken['privacy-prompt'], transcript.json<{ text: string }>().text).errors, 0)
  t.equal((await fetch(`${parley.url}/healthz`)).status, 200)
}

/** Kills every such child process, because the first can be idle while another has this request's work. */
async function killBusy(kind: string): Promise<void> {
  await untilBusy(kind)
  for (const child of childrenOf(kind)) process.kill(child, 'SIGKILL')
}

async function untilBusy(kind: string): Promise<void> {
  await until(`a ${kind} works`, () => childrenOf(kind).length > 0)
  await sleep(400)
}

/** Returns the child processes of this file's server. */
function childrenOf(kind: string): number[] {
  return descendants(process.pid, kind).filter((child) => !childrenBefore.includes(child))
}

t.test('if a speech process is killed during a transcription, the answer is 502; the next works', async (t) => {
  await serves(t)
  const asked = transcribe(parley, long, { ...telephone, ...stt })
  await killBusy('stt-child')
  const answer = await asked
  const { error } = answer.json()
  t.equal(answer.status, 502)
  t.equal(error.code, 'provider_error')
  t.match(error.attempts, [{ provider: 'local', model: 'moonshine-tiny-en', outcome: 'server' }])
  t.equal(answer.headers.get('x-should-retry'), 'false', 'it had the work, so the key is spent')
  await serves(t)
})

t.test('if a speech process is killed, another provider takes over', async (t) => {
  const asked = transcribe(parley, long, {
    ...telephone,
    routing: { mode: 'auto', objective: 'cost', allow_providers: ['local', 'mock'] },
  })
  await killBusy('stt-child')
  const answer = await asked
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('service-provider'), 'mock')
  t.equal(stub.requests.at(-1)?.parts.find(({ name }) => name === 'file')?.body.length, long.length + 44, 'all of it')
  await serves(t)
})

t.test('if a speech process is killed while it speaks, the answer breaks off and the next request works', async (t) => {
  const answer = await streamOf(speech, { input: manySentences, ...pinned('local/flite') })
  t.equal(answer.status, 200)
  await answer.some()
  await killBusy('flite-child')
  await t.rejects(answer.rest(), 'half an utterance does not look like a whole one')
  await allEnded()
  await serves(t)
})

t.test('if the queue of the speech engine is full, the request is refused', async (t) => {
  const running = transcribe(parley, long, { ...telephone, ...stt })
  await until('it runs', async () => (await inflight()) === 1)
  await sleep(300)
  const waiting = transcribe(parley, prompt, stt)
  await until('it waits', async () => (await inflight()) === 2)
  await sleep(300)
  const key = { 'idempotency-key': randomUUID() }
  const refused = await transcribe(parley, prompt, stt, key)
  t.equal(refused.status, 503)
  t.equal(refused.json().error.code, 'provider_unavailable')
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.equal(refused.json().error.retry_after_seconds, Number(refused.headers.get('retry-after')))
  t.equal(refused.headers.get('x-should-retry'), null, 'it has not happened')
  t.same(
    (await Promise.all([running, waiting])).map(({ status }) => status),
    [200, 200],
  )
  t.equal((await transcribe(parley, prompt, stt, key)).status, 200, 'and its key is free')
})

t.test('if a client leaves during an upload, the request ends', async (t) => {
  const { body, type } = form(transcriptionParts({ ...telephone, ...stt }, long))
  for (const share of [0.1, 0.9]) {
    const headers = {
      authorization,
      'content-type': type,
      'content-length': body.length,
      'idempotency-key': randomUUID(),
    }
    const request = http.request(parley.url + transcriptions, { method: 'POST', headers })
    request.on('error', () => {})
    request.write(body.subarray(0, body.length * share))
    await until('it arrives', async () => (await inflight()) === 1)
    request.destroy()
    await allEnded()
  }
  await serves(t)
})

t.test('if a client leaves while its recording is transcribed, the work ends', async (t) => {
  const { body, type } = form(transcriptionParts({ ...telephone, ...stt }, long))
  const headers = { authorization, 'content-type': type, 'idempotency-key': randomUUID() }
  const leaving = new AbortController()
  const asked = fetch(parley.url + transcriptions, { method: 'POST', headers, body, signal: leaving.signal })
  asked.catch(() => {})
  await untilBusy('stt-child')
  const children = childrenOf('stt-child')
  leaving.abort()
  await allEnded()
  await serves(t)
  t.same(childrenOf('stt-child'), children, 'the child stops and is kept')
})

t.test('if a client leaves during speech, the work ends', async (t) => {
  const answer = await streamOf(speech, { input: manySentences, ...pinned('local/flite') })
  await answer.some()
  t.equal(await inflight(), 1)
  answer.leave()
  await allEnded()
  await serves(t)
})

t.test('if a client leaves during an LLM stream, the provider request ends', async (t) => {
  stub.behave({
    kind: 'custom',
    answer: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const delta = JSON.stringify({ choices: [{ index: 0, delta: { content: `${stubText} ` } }] })
      const timer = setInterval(() => response.write(`data: ${delta}\n\n`), 20)
      response.once('close', () => clearInterval(timer))
    },
  })
  const answer = await streamOf(responses, ask('hello', { stream: true, ...pinned('mock/mock') }))
  await answer.some()
  answer.leave()
  await stub.requests.at(-1)?.closed
  t.pass('the call at the provider is ended')
  await allEnded()
  await serves(t)
})

t.test('a body that stops arriving is refused in time', async (t) => {
  const { body, type } = form(transcriptionParts({}, prompt))
  const text = JSON.stringify(ask('hello'))
  const stalled = await Promise.all([
    stall(transcriptions, type, body.length, body.subarray(0, 5000)),
    stall(transcriptions, type, body.length, Buffer.alloc(0)),
    stall(responses, 'application/json', text.length, Buffer.from(text.slice(0, 20))),
  ])
  for (const { text: answer, elapsedMs } of stalled) {
    t.match(answer, /^HTTP\/1\.1 400 /)
    t.match(answer, /"code":"invalid_request".*"request_id":"req_/)
    t.ok(elapsedMs > bodyTimeoutMs * 0.9 && elapsedMs < bodyTimeoutMs * 5, `after ${Math.round(elapsedMs)} ms`)
  }
  await allEnded()
  await serves(t)
})

/** Sends only a part of a body. Resolves with the answer once the connection has ended. */
function stall(path: string, type: string, length: number, part: Buffer): Promise<{ text: string; elapsedMs: number }> {
  const { hostname, port } = new URL(parley.url)
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: ${authorization}`,
    `Idempotency-Key: ${randomUUID()}`,
    `Content-Type: ${type}`,
    `Content-Length: ${length}`,
  ]
  return new Promise((resolve, reject) => {
    const startedMs = performance.now()
    const socket = net.connect(Number(port), hostname)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.once('error', reject)
    socket.once('close', () => resolve({ text, elapsedMs: performance.now() - startedMs }))
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    socket.write(part)
  })
}

type Streaming = {
  status: Answer['status']
  /** Reads the body's next piece. */
  some: () => Promise<Uint8Array>
  /** Reads the body's rest. Rejects if the response breaks off. */
  rest: () => Promise<void>
  leave: () => void
}

/** Sends a request. Returns its answer, which a test reads piece by piece. */
async function streamOf(path: string, body: object): Promise<Streaming> {
  const leaving = new AbortController()
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const init = { method: 'POST', headers, body: JSON.stringify(body), signal: leaving.signal }
  const answer = await fetch(parley.url + path, init)
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const some = async () => (await reader.read()).value ?? new Uint8Array(0)
  const rest = async () => {
    while (!(await reader.read()).done);
  }
  return { status: answer.status, some, rest, leave: () => leaving.abort() }
}
