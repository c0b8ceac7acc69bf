import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { LlmEvent } from '../../domain/ports/llm.ts'
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'
import {
  type Adapters,
  apiKey,
  ask,
  collect,
  failure,
  hear,
  json,
  limits,
  never,
  openStub,
  say,
  until,
} from './openai-setup.ts'
import { type Behaviour, type StubRequest, startStubOpenAi, stubSpeech, stubUsage } from './stub-openai.ts'

const { stub, provider, real } = await openStub(t)
const clock = new TestClock({ quiet: wholeProcess })
const impatient = provider({ clock, limits: { ...limits, firstByteMs: 50, idleMs: 50, totalMs: 100 } })
const nowhere = provider({ baseUrl: await closedPort() })
t.teardown(() => Promise.all([impatient.close(), nowhere.close()]))

const operations = {
  respond: ({ llm }: Adapters) => llm.respond(ask, never),
  stream: ({ llm }: Adapters) => collect(llm.stream(ask, never)),
  transcribe: ({ stt }: Adapters) => stt.transcribe(hear, never),
  synthesize: async ({ tts }: Adapters) => collect((await tts.synthesize(say, never)).audio),
}
type OperationName = keyof typeof operations
const everything = Object.keys(operations) as OperationName[]

t.test('each failure of an OpenAI server has its error class', async (t) => {
  const rows: [behaviour: Behaviour, expected: ErrorClass, on: OperationName[]][] = [
    [{ kind: 'status', status: 401 }, 'auth', everything],
    [{ kind: 'status', status: 403 }, 'auth', everything],
    [{ kind: 'status', status: 401, code: 'quota_exceeded' }, 'quota', everything],
    [{ kind: 'status', status: 402 }, 'quota', everything],
    [{ kind: 'status', status: 429, code: 'insufficient_quota' }, 'quota', everything],
    [{ kind: 'status', status: 429 }, 'rate_limited', everything],
    [{ kind: 'status', status: 400 }, 'bad_request', everything],
    [{ kind: 'status', status: 404 }, 'bad_request', everything],
    [{ kind: 'status', status: 422 }, 'bad_request', everything],
    [{ kind: 'status', status: 408 }, 'timeout', everything],
    [{ kind: 'status', status: 504 }, 'timeout', everything],
    [{ kind: 'status', status: 503 }, 'overloaded', everything],
    [{ kind: 'status', status: 529 }, 'overloaded', everything],
    [{ kind: 'status', status: 500 }, 'server', everything],
    [{ kind: 'status', status: 302, headers: { location: 'http://127.0.0.1/' } }, 'protocol', everything],
    [{ kind: 'garbage' }, 'protocol', ['respond', 'stream', 'transcribe']],
    [{ kind: 'cut' }, 'protocol', everything],
    [{ kind: 'reset' }, 'protocol', everything],
    [{ kind: 'error_mid' }, 'server', ['stream']],
    [{ kind: 'error_body' }, 'bad_request', everything],
    [{ kind: 'error_body', code: 'insufficient_quota' }, 'quota', everything],
    [{ kind: 'empty' }, 'empty', ['respond', 'stream']],
  ]
  for (const [behaviour, expected, names] of rows) {
    for (const name of names) {
      const title = `${name}: ${JSON.stringify(behaviour)}`
      stub.behave(behaviour)
      const error = await failure(operations[name](real))
      t.equal(error.errorClass, expected, title)
      t.equal(error.sent, true, `${title}: sent`)
      t.notMatch(error.message, 'the vendor says no', `${title}: the vendor's words stay inside`)
    }
  }
})

t.test('a request to a provider that does not answer times out within the configured limits', async (t) => {
  for (const kind of ['hang', 'headers_only'] as const) {
    stub.behave(...everything.map(() => ({ kind })))
    const errors = await clock.during(Promise.all(everything.map((name) => failure(operations[name](impatient)))))
    for (const error of errors) t.match({ ...error }, { errorClass: 'timeout', sent: true }, kind)
  }
})

t.test('if the connection is refused, the error says that nothing was sent', async (t) => {
  for (const name of everything) {
    const error = await failure(operations[name](nowhere))
    t.match({ ...error }, { errorClass: 'unreachable', sent: false }, name)
  }
})

t.test('Retry-After is read as seconds and as a date', async (t) => {
  const wait = async (headers: Record<string, string>) => {
    stub.behave({ kind: 'status', status: 429, headers })
    return (await failure(real.llm.respond(ask, never))).retryAfterS
  }
  t.equal(await wait({ 'retry-after': '7' }), 7)
  t.equal(await wait({ 'retry-after': '0.2' }), 1)
  const date = { date: 'Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }
  t.equal(await wait(date), 30)
  t.equal(await wait({ 'retry-after': 'soon' }), undefined)
  t.equal(await wait({}), undefined)
})

t.test('the cause of an error does not contain the provider key', async (t) => {
  const answer = (request: StubRequest, response: ServerResponse) => {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: `wrong: ${request.headers.authorization}` } }))
  }
  stub.behave({ kind: 'custom', answer })
  const error = await failure(real.llm.respond(ask, never))
  t.match(error.cause, 'Bearer [key]')
  t.notMatch(error.cause, apiKey)
})

t.test('if the calling code aborts its signal, the request ends', async (t) => {
  for (const [name, call] of [
    ['respond', (signal: AbortSignal) => real.llm.respond(ask, signal)],
    ['transcribe', (signal: AbortSignal) => real.stt.transcribe(hear, signal)],
    ['synthesize', (signal: AbortSignal) => real.tts.synthesize(say, signal)],
  ] as const) {
    const controller = new AbortController()
    stub.behave({ kind: 'hang' })
    const before = stub.requests.length
    const failed = failure(call(controller.signal))
    await until(() => stub.requests.length > before)
    controller.abort()
    t.match({ ...(await failed) }, { errorClass: 'cancelled', sent: true }, name)
    await stub.requests.at(-1)?.closed
  }
  const error = await failure(real.llm.respond(ask, AbortSignal.abort()))
  t.match({ ...error }, { errorClass: 'cancelled', sent: false }, 'already gone')
})

t.test('if the reader leaves a stream early, the connection is closed', async (t) => {
  stub.behave({ kind: 'custom', answer: endlessChat })
  for await (const event of real.llm.stream(ask, never)) {
    t.same(event, { type: 'text', delta: 'more ' })
    break
  }
  await stub.requests.at(-1)?.closed
  stub.behave({ kind: 'custom', answer: endlessSpeech })
  const speech = await real.tts.synthesize(say, never)
  for await (const chunk of speech.audio) {
    t.ok(chunk.length > 0)
    break
  }
  await stub.requests.at(-1)?.closed
})

t.test('answers that are too long or malformed are stopped at their limits', async (t) => {
  const endless = (type: string, line: string) => (_: StubRequest, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': type })
    pump(response, line)
  }
  stub.behave({ kind: 'custom', answer: endless('application/json', ' '.repeat(4096)) })
  t.equal((await failure(real.llm.respond(ask, never))).errorClass, 'protocol', 'endless JSON')
  stub.behave({ kind: 'custom', answer: endless('text/event-stream', 'x'.repeat(4096)) })
  t.equal((await failure(collect(real.llm.stream(ask, never)))).errorClass, 'protocol', 'an endless line')
  stub.behave({ kind: 'custom', answer: endless('text/event-stream', ': still here\n\n'.repeat(256)) })
  t.equal((await failure(collect(real.llm.stream(ask, never)))).errorClass, 'protocol', 'endless comments')
  const usage = { ...stubUsage, prompt_tokens: -1, completion_tokens: 1e300, total_tokens: 'NaN' }
  stub.behave(json({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage }))
  const counted = (await real.llm.respond(ask, never)).usage
  t.same(counted, { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 3 })
})

t.test('a server that sends single bytes slowly cannot exceed the total time', async (t) => {
  let nowMs = 0
  const patient = provider({ clock: { ...systemClock, monotonicMs: () => nowMs } })
  stub.behave({
    kind: 'custom',
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'audio/pcm' })
      response.write(stubSpeech.subarray(0, 480))
      stub.requests.at(-1)?.closed.then(() => clearInterval(drip))
      const drip = setInterval(() => response.write(stubSpeech.subarray(0, 480)), 5)
    },
  })
  const speech = await patient.tts.synthesize(say, never)
  const error = await failure(
    (async () => {
      for await (const chunk of speech.audio) if (chunk.length > 0) nowMs = limits.totalMs + 1
    })(),
  )
  t.equal(error.errorClass, 'timeout')
  await patient.close()
})

t.test("the events before a stream's failure are delivered before the error", async (t) => {
  for (const kind of ['cut', 'reset', 'error_mid'] as const) {
    const seen: LlmEvent[] = []
    stub.behave({ kind })
    await failure(collect(real.llm.stream(ask, never), seen))
    t.same(seen, [
      { type: 'text', delta: 'Hello ' },
      { type: 'text', delta: 'from ' },
    ])
  }
})

async function closedPort(): Promise<string> {
  const other = await startStubOpenAi()
  await other.close()
  return `${other.url}/v1`
}

function endlessChat(_: StubRequest, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  pump(response, `data: ${JSON.stringify({ choices: [{ delta: { content: 'more ' } }] })}\n\n`)
}

function endlessSpeech(_: StubRequest, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  pump(response, 'x'.repeat(960))
}

/** Writes the text again and again until the client closes the connection. */
function pump(response: ServerResponse, text: string): void {
  const timer = setInterval(() => response.write(text), 1)
  response.once('close', () => clearInterval(timer))
}
