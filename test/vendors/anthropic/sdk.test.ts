/**
 * Runs the vendor's SDK against the stub. If the SDK understands the stub in every test case, the stub behaves like the
 * vendor.
 */
import { createRequire } from 'node:module'
import t from 'tap'
import { answerText, callArguments, weather } from '../suite/llm.ts'
import type { Cell } from '../suite/matrix.ts'
import { startAnthropicStub, usage } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Message = {
  content: { type: string; text?: string; name?: string; input?: unknown }[]
  stop_reason: string
  usage: Record<string, unknown>
}
type Client = {
  messages: {
    create(body: object, options?: object): Promise<Message>
    stream(body: object, options?: object): { finalMessage(): Promise<Message> }
  }
  models: { list(query: object): Promise<{ data: { id: string }[] }> }
}
type Sdk = { Anthropic: new (options: object) => Client }

const sdk = load()
const skip = sdk ? false : '@anthropic-ai/sdk is not installed: npm ci in test/vendors'
const stub = await startAnthropicStub()
t.teardown(() => stub.close())

const ask = {
  model: 'claude-haiku-4-5',
  max_tokens: 64,
  system: 'Be brief.',
  messages: [{ role: 'user', content: 'Hello' }],
}
const tools = [{ name: weather.name, description: weather.description, input_schema: weather.parameters }]
const ways = {
  create: (body: object, options: object) => client().messages.create(body, options),
  stream: (body: object, options: object) => client().messages.stream(body, options).finalMessage(),
}

for (const [way, call] of Object.entries(ways)) {
  t.test(`${way}: the Anthropic SDK gets the stub's answer`, { skip }, async (t) => {
    for (const cell of ['ok', 'slow_first_byte'] as const) {
      stub.behave(cell)
      const { content, stop_reason, usage: counted } = await call(ask, {})
      t.equal(content.find(({ type }) => type === 'text')?.text, answerText)
      t.equal(stop_reason, 'end_turn')
      t.match(counted, { output_tokens: usage.output_tokens, cache_read_input_tokens: 40, input_tokens: 20 })
    }
    const called = (await call({ ...ask, tools }, {})).content.find(({ type }) => type === 'tool_use')
    t.match(called, { name: weather.name, input: callArguments })
  })

  t.test(`${way}: the Anthropic SDK reports the stub's errors`, { skip }, async (t) => {
    const expected: [Cell, object][] = [
      ['auth', { status: 401, type: 'authentication_error' }],
      ['quota', { status: 402, type: 'billing_error' }],
      ['rate_limited', { status: 429, type: 'rate_limit_error' }],
      ['rate_limited_bare', { status: 429, type: 'rate_limit_error' }],
      ['overloaded', { status: 529, type: 'overloaded_error' }],
      ['server', { status: 500, type: 'api_error' }],
      ['bad_request', { status: 400, type: 'invalid_request_error' }],
      ['hang', { message: /timed out/ }],
      ['cut', {}],
      ['reset', {}],
      ['garbage', {}],
      ...(way === 'stream' ? [['error_mid', { type: 'overloaded_error' }] as [Cell, object]] : []),
    ]
    for (const [cell, error] of expected) {
      stub.behave(cell)
      const outcome: unknown = await call(ask, { timeout: cell === 'hang' ? 300 : 10_000 }).catch(
        (error: unknown) => error,
      )
      t.type(outcome, Error, cell)
      t.match(outcome, error, cell)
    }
  })

  t.test(`${way}: the Anthropic SDK accepts the stub's empty answer`, { skip }, async (t) => {
    stub.behave('empty')
    t.same((await call(ask, {})).content, [])
  })
}

t.test("the Anthropic SDK gets the stub's list of models", { skip }, async (t) => {
  stub.behave('ok')
  t.match((await client().models.list({ limit: 1 })).data, [{ id: 'claude-haiku-4-5' }])
  t.match(stub.seen, [{ method: 'GET', path: '/v1/models?limit=1' }])
  stub.behave('auth')
  t.match(
    await client()
      .models.list({})
      .catch((error: unknown) => error),
    { status: 401 },
  )
})

function client(): Client {
  if (!sdk) throw new Error('the SDK is missing')
  return new sdk.Anthropic({ apiKey: 'sk-stub', baseURL: stub.url, maxRetries: 0, logLevel: 'off' })
}

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('@anthropic-ai/sdk') as Sdk
  } catch {
    return null
  }
}
