/** A request with one idempotency key runs once: with 200 copies at once, and with other multipart boundaries. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ownServer } from '../server.ts'
import { type Answer, ask, postForm, postJson, responses, transcriptionParts, transcriptions } from './requests.ts'

const stub = await startStubOpenAi()
const providers = JSON.stringify([
  {
    id: 'mock',
    adapter: 'openai',
    baseUrl: `${stub.url}/v1`,
    apiKey: 'k',
    models: { llm: ['mock'], stt: ['mock-stt'] },
  },
])
t.teardown(() => stub.close())
const parley = await ownServer(t, { PARLEY_PROVIDERS: providers })

const pinned = (text: string) => ask(text, { routing: { mode: 'explicit', provider: 'mock', model: 'mock' } })
const withKey = (key: string, text = 'hello'): Promise<Answer> =>
  postJson(parley, responses, pinned(text), { 'idempotency-key': key })

t.test('200 simultaneous copies of a request reach the provider once', async (t) => {
  stub.behave({ kind: 'slow', delayMs: 300 })
  const before = stub.requests.length
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 200 }, () => withKey(key)))
  t.equal(stub.requests.length - before, 1)
  t.equal(answers.filter((answer) => answer.status === 200).length, 1)
  const codes = new Set(answers.filter((answer) => answer.status !== 200).map((answer) => answer.json().error.code))
  t.ok(
    [...codes].every((code) => code === 'request_in_progress' || code === 'request_already_started'),
    [...codes].join(' '),
  )
  const late = await withKey(key)
  t.equal(late.status, 409)
  t.equal(late.json().error.code, 'request_already_started')
  t.equal(
    late.json().error.original_request_id,
    answers.find((answer) => answer.status === 200)?.headers.get('service-request-id'),
  )
  t.equal(late.headers.get('x-should-retry'), 'false')
})

t.test('other content with the same idempotency key is a conflict', async (t) => {
  const key = randomUUID()
  t.equal((await withKey(key, 'one')).status, 200)
  const other = await withKey(key, 'two')
  t.equal(other.status, 409)
  t.equal(other.json().error.code, 'idempotency_conflict')
})

t.test("the idempotency hash covers a body's bytes as the client sent the body", async (t) => {
  const key = { 'idempotency-key': randomUUID() }
  const text = JSON.stringify(pinned('bytes'))
  const codeOf = async (body: string) => (await postJson(parley, responses, body, key)).json().error.code
  t.equal((await postJson(parley, responses, text, key)).status, 200)
  t.equal(await codeOf(text), 'request_already_started')
  t.equal(await codeOf(`${text} `), 'idempotency_conflict', 'the same JSON in other bytes')
})

t.test('the idempotency hash covers the multipart parts and not the boundary', async (t) => {
  const key = randomUUID()
  const request = {
    routing: { mode: 'explicit', model: 'mock/mock-stt' },
    audio: { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 },
  }
  const post = (audio: Buffer, boundary: string, filename = 'audio') => {
    const parts = transcriptionParts(request, audio).map((part) =>
      part.name === 'audio' ? { ...part, filename } : part,
    )
    return postForm(parley, transcriptions, parts, { 'idempotency-key': key }, boundary)
  }
  t.equal((await post(Buffer.alloc(3200), 'first')).status, 200)
  t.equal((await post(Buffer.alloc(3200), 'another-boundary')).json().error.code, 'request_already_started')
  const renamed = await post(Buffer.alloc(3200), 'first', 'another-name')
  t.equal(renamed.json().error.code, 'request_already_started', 'headers of a part do not count')
  t.equal((await post(Buffer.alloc(3200, 1), 'first')).json().error.code, 'idempotency_conflict')
})

t.test('a request that ends before dispatch frees its idempotency key', async (t) => {
  const key = randomUUID()
  const before = stub.requests.length
  const impossible = ask('hi', { routing: { mode: 'explicit', provider: 'local', model: 'nothing' } })
  const refused = await postJson(parley, responses, impossible, { 'idempotency-key': key })
  t.same([refused.status, refused.json().error.code], [400, 'invalid_parameter'])
  t.equal(stub.requests.length, before, 'nothing was dispatched')
  t.equal((await withKey(key)).status, 200)
})

t.test('if the provider answers that it does not have the model, the idempotency key stays used', async (t) => {
  const key = randomUUID()
  stub.behave({ kind: 'status', status: 404 })
  const unlisted = ask('hi', { routing: { mode: 'explicit', provider: 'mock', model: 'nothing' } })
  const refused = await postJson(parley, responses, unlisted, { 'idempotency-key': key })
  stub.behave({ kind: 'ok' })
  t.same([refused.status, refused.json().error.code], [400, 'capability_unsupported'])
  t.equal(refused.headers.get('x-should-retry'), 'false')
  const again = await postJson(parley, responses, unlisted, { 'idempotency-key': key })
  t.same([again.status, again.json().error.code], [409, 'request_already_started'])
})
