import t, { type Test } from 'tap'
import type { Llm, LlmRequest } from '../../domain/ports/llm.ts'
import { lackingAllBut } from '../../domain/ports/llm-settings.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { createChat } from '../../handlers/compat/openai/chat.ts'
import type { ChatInput } from '../../handlers/compat/openai/chat-translation.ts'
import type { OpenAiOptions } from '../../providers/openai/provider.ts'
import { auto, everything, isClean, setup, text } from '../domain/fake-llm.ts'
import {
  bench,
  collect,
  failure,
  fault,
  model,
  order,
  script,
  provider as serving,
  theEnd,
  usage,
} from '../domain/fakes.ts'
import { routerError } from '../domain/router-error.ts'
import { openStub } from '../providers/openai-setup.ts'
import { stubText, stubUsage } from '../providers/stub-openai.ts'

const { stub, provider } = await openStub(t)
const messages = [{ role: 'user', content: 'Hello' }]
const stubbed: Routing = { mode: 'explicit', provider: 'stub', model: 'chat' }

/**
 * Prepares chats over a provider with the real adapter, whose server is the stub. The other providers come after it.
 */
function chatting(t: Test, changes: Partial<OpenAiOptions> = {}, others: Provider[] = []) {
  const made = provider(changes)
  t.teardown(() => made.close())
  const all = bench([made, ...others])
  const chat = createChat(all.deps)
  const inputOf = (body: object, extra: Partial<ChatInput> = {}): ChatInput => {
    const keyless = withoutKey()
    return { ...keyless, routing: stubbed, body: { messages, ...body }, ...extra }
  }
  const once = (body = {}, extra: Partial<ChatInput> = {}) => chat.complete(inputOf(body, extra))
  const stream = (body = {}, extra: Partial<ChatInput> = {}) => chat.stream(inputOf(body, extra))
  return { ...all, once, stream }
}

function withoutKey() {
  const keyless = order({ operation: 'createChatCompletion' })
  delete keyless.key
  return keyless
}

const sent = () => stub.requests.at(-1)?.json ?? {}

t.test('a chat request reaches the provider unchanged, and the client gets the choices unchanged', async (t) => {
  const all = chatting(t)
  const body = { temperature: 0.3, vendor_knob: { deep: [1, null] }, tools: [], user: 'u', n: 1 }
  const { completion, route } = await all.once(body, { maxOutputTokens: 7 })
  t.same(sent(), { messages, ...body, model: 'chat', max_tokens: 7 })
  t.same(completion, {
    id: 'chatcmpl-req_0',
    object: 'chat.completion',
    created: Math.floor(all.clock.nowMs() / 1000),
    model: 'stub:chat',
    choices: [{ index: 0, message: { role: 'assistant', content: stubText }, finish_reason: 'stop' }],
    usage: stubUsage,
  })
  t.match(route, { provider: 'stub', model: 'chat', failovers: 0 })
  t.match(all.ledger.last.row.quantities, [
    { unit: 'input_tokens', amount: 8 },
    { unit: 'cached_input_tokens', amount: 4 },
    { unit: 'output_tokens', amount: 6 },
    { unit: 'reasoning_tokens', amount: 3 },
  ])
  isClean(t, all)
})

t.test("the token limit is sent in the provider's field, and is not sent if the request has no limit", async (t) => {
  const other = chatting(t, { maxTokensField: 'max_completion_tokens' })
  await other.once({}, { maxOutputTokens: 9 })
  t.same(sent(), { messages, model: 'chat', max_completion_tokens: 9 })
  await other.once()
  t.same(sent(), { messages, model: 'chat' })
})

t.test('a chat stream passes chunks on unchanged, and the usage only to clients that request it', async (t) => {
  const all = chatting(t)
  const { route, chunks } = await all.stream()
  const { items, error } = await collect(chunks)
  t.equal(error, null)
  t.same(sent(), { messages, model: 'chat', stream: true, stream_options: { include_usage: true } })
  t.match(route, { provider: 'stub', model: 'chat' })
  t.ok(items.every(({ id, object }) => id === 'chatcmpl-req_0' && object === 'chat.completion.chunk'))
  t.ok(items.every((chunk) => chunk.choices.length === 1 && !('usage' in chunk)))
  t.match(items[0], { choices: [{ delta: { role: 'assistant' } }] })
  t.match(items.at(-1), { choices: [{ finish_reason: 'stop' }] })
  t.equal(said(items), stubText)
  t.match(all.ledger.last, { status: 'succeeded', row: { costMicroUsd: null } })
  isClean(t, all)

  const asked = await collect((await all.stream({ stream_options: { include_usage: true, extra: 1 } })).chunks)
  t.match(sent(), { stream_options: { include_usage: true, extra: 1 } })
  t.match(asked.items.at(-1), { choices: [], usage: stubUsage })

  const silent = chatting(t, { asksForUsage: false })
  const counted = await collect((await silent.stream({ stream_options: { include_usage: true } })).chunks)
  t.same(sent(), { messages, model: 'chat', stream: true })
  t.match(counted.items.at(-1), { choices: [], usage: stubUsage }, 'the server counts by itself')
})

t.test('tool calls arrive piece by piece in a stream', async (t) => {
  stub.behave({ kind: 'tool_call' })
  const { items } = await collect((await chatting(t).stream({ tools: [{ type: 'function' }] })).chunks)
  t.match(items.at(-1), { choices: [{ finish_reason: 'tool_calls' }] })
  t.ok(items.some((chunk) => JSON.stringify(chunk).includes('"name":"weather"')))
})

t.test('if a chat stream breaks off, reading throws, and the ledger counts a failure', async (t) => {
  for (const kind of ['cut', 'reset', 'error_mid'] as const) {
    const all = chatting(t)
    stub.behave({ kind })
    const { items, error } = await collect((await all.stream()).chunks)
    t.equal(said(items), 'Hello from ', kind)
    t.match(error, { kind: 'stream_broken' }, kind)
    t.match(all.ledger.last, { status: 'failed' }, kind)
    isClean(t, all)
  }
})

t.test('if a provider fails or answers nothing, a JSON request fails over, and a stream does not', async (t) => {
  for (const behaviour of [{ kind: 'status', status: 500 }, { kind: 'empty' }] as const) {
    const second = setup([{ text: 'second', calls: [], stopReason: 'stop', usage }]).catalog.stage('llm')[0]?.provider
    const all = chatting(t, {}, second ? [second] : [])
    const routing: Routing = { mode: 'auto', objective: 'balanced' }
    stub.behave(behaviour)
    const before = stub.requests.length
    const streamed = await fault(all.stream({}, { routing }))
    t.match(streamed, { kind: 'all_failed' }, behaviour.kind)
    t.equal(streamed.detail.attempts?.length, 1)
    stub.behave(behaviour)
    const { completion } = await all.once({}, { routing })
    t.match(completion, { model: 'a:m', choices: [{ message: { content: 'second' } }] })
    t.equal(stub.requests.length, before + 2)
  }
})

t.test('a chat stream tries another provider only if nothing was sent to the first provider', async (t) => {
  const all = setup([[failure('unreachable', false)], [failure('overloaded', false)], [text('third'), theEnd]])
  const { chunks } = await createChat(all.deps).stream({ ...withoutKey(), routing: auto, body: { messages } })
  t.equal(said((await collect(chunks)).items), 'third')
  t.same(all.asked, ['a', 'b', 'c'])
  const sent = setup([[failure('unreachable', false)], [failure('server')], [text('third'), theEnd]])
  const failed = await fault(createChat(sent.deps).stream({ ...withoutKey(), routing: auto, body: { messages } }))
  t.match(failed, { kind: 'all_failed', detail: { attempts: [{ outcome: 'unreachable' }, { outcome: 'server' }] } })
  t.same(sent.asked, ['a', 'b'], 'the one that was sent a byte is the last')
})

t.test('if the reader leaves a chat stream, the text until then is billed', async (t) => {
  const all = chatting(t)
  const { chunks } = await all.stream()
  const iterator = chunks[Symbol.asyncIterator]()
  await iterator.next()
  await iterator.next()
  await iterator.return?.()
  t.match(all.ledger.last, { status: 'failed' })
  t.match(all.ledger.last.row.quantities, [{ unit: 'input_tokens' }, { unit: 'output_tokens', amount: 2 }])
  isClean(t, all)
})

t.test('a provider without the chat protocol gets a translation of the request', async (t) => {
  const asked: unknown[] = []
  const llm = {
    respond: (request: unknown) => {
      asked.push(request)
      return Promise.resolve({
        text: '',
        calls: [{ callId: 'c', name: 'f', arguments: '{}' }],
        stopReason: 'tool_call' as const,
        usage,
      })
    },
    stream: () => script([text('Hel'), text('lo'), theEnd]),
  }
  const row = model('llm', { provider: 'a', id: 'm', capabilities: everything })
  const all = bench([
    { id: 'a', models: [row], unavailable: () => null, close: () => Promise.resolve(), ports: { llm } },
  ])
  const chat = createChat(all.deps)
  const keyless = withoutKey()
  const base = { ...keyless, routing: auto }
  const body = {
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be ' },
          { type: 'text', text: 'brief.' },
        ],
      },
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c0', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c0', content: 'done' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
    temperature: 0,
    top_p: 1,
    reasoning_effort: 'low',
    user: 'u',
    metadata: {},
    seed: 1,
    n: 1,
  }
  const { completion } = await chat.complete({ ...base, body, maxOutputTokens: 5 })
  t.same(asked, [
    {
      model: 'm',
      items: [
        { type: 'message', role: 'system', text: 'Be brief.' },
        { type: 'message', role: 'user', text: 'Hi' },
        { type: 'function_call', callId: 'c0', name: 'f', arguments: '{}' },
        { type: 'function_result', callId: 'c0', result: 'done' },
      ],
      maxOutputTokens: 5,
      tools: [{ name: 'f', parameters: { type: 'object' } }],
      toolChoice: { name: 'f' },
      responseFormat: { name: 'n', schema: {}, strict: true },
      temperature: 0,
      topP: 1,
      reasoningEffort: 'low',
    },
  ])
  const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  t.match(completion, {
    model: 'a:m',
    choices: [
      { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })

  const { chunks } = await chat.stream({ ...base, body: { messages, stream_options: { include_usage: true } } })
  const { items } = await collect(chunks)
  t.match(items[0], { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] })
  t.equal(said(items), 'Hello')
  t.match(items.at(-2), { choices: [{ finish_reason: 'stop' }] })
  t.match(items.at(-1), { choices: [], usage: { total_tokens: 15 } })

  const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }] }
  for (const [untranslatable, param] of [
    [{ messages: [picture] }, '/messages/0/content/0'],
    [{ messages, audio: { voice: 'alloy' } }, '/audio'],
    [{ messages, modalities: ['audio'] }, '/modalities'],
    [{ messages, functions: [{ name: 'f' }] }, '/functions'],
    [{ messages, web_search_options: {} }, '/web_search_options'],
  ] as const) {
    const refused = await fault(chat.complete({ ...base, body: untranslatable }))
    t.match(refused, { data: { kind: 'field_unsupported', field: param } }, param)
  }
})

t.test('settings that a model does not support are not sent, and are reported as ignored', async (t) => {
  const asked: LlmRequest[] = []
  const llm: Llm = {
    lacks: lackingAllBut('temperature', 'stop', 'user'),
    respond: (request) => {
      asked.push(request)
      return Promise.resolve({ text: 'yes', calls: [], stopReason: 'stop', usage })
    },
    stream: () => script([text('yes'), theEnd]),
  }
  const all = bench([serving('a', [model('llm', { capabilities: everything })], { llm })])
  const chat = createChat(all.deps)
  const ignoredOf = async (fields: object) => {
    const input = { ...withoutKey(), routing: auto, body: { messages, ...fields } }
    const whole = (await chat.complete(input)).ignored
    const stream = await chat.stream(input)
    t.same(stream.ignored, whole, 'a stream names the same')
    await collect(stream.chunks)
    return whole
  }
  t.same(await ignoredOf({ temperature: 2, stop: 'END', user: 'u' }), [], 'what it takes')
  t.match(asked.at(-1), { temperature: 2, stop: ['END'], user: 'u' })
  const more = { seed: 7, top_p: 0.5, n: 2, logprobs: true, logit_bias: { 50256: -100 }, store: true, vendor_field: 1 }
  t.same(await ignoredOf({ ...more, stop: ['a', 'b'] }), Object.keys(more), 'what it lacks, and what nobody knows')
  t.same(Object.keys(asked.at(-1) ?? {}), ['model', 'items', 'maxOutputTokens', 'tools', 'stop'])
  const neutral = { n: 1, logprobs: false, logit_bias: {}, frequency_penalty: 0, presence_penalty: 0, store: false }
  t.same(await ignoredOf({ ...neutral, parallel_tool_calls: true, stop: null, seed: null }), [], 'neutral values')
  t.same(await ignoredOf({ 'x\r\ny': 1, [`k${'k'.repeat(64)}`]: 1, seed: 1 }), ['seed'], 'names that fit a header')
  const inherited = { ...JSON.parse('{"__proto__":1}'), __defineGetter__: 1, constructor: 1, toString: 1 } as object
  t.same(await ignoredOf(inherited), Object.keys(inherited), 'names that every object has')
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${i}`, 1]))
  t.equal((await ignoredOf(many)).length, 32)
})

t.test('if the reader of a translated stream leaves, the text that was read is billed', async (t) => {
  for (const [reads, amount] of [
    [1, 0],
    [2, 2],
  ] as const) {
    const all = setup([[text('Hello'), 'hang']])
    const { chunks } = await createChat(all.deps).stream({ ...withoutKey(), routing: auto, body: { messages } })
    const iterator = chunks[Symbol.asyncIterator]()
    for (let i = 0; i < reads; i++) await iterator.next()
    await iterator.return?.()
    const output = all.ledger.last.row.quantities.find(({ unit }) => unit === 'output_tokens')
    t.equal(output?.amount ?? 0, amount, `after ${reads} chunks`)
    isClean(t, all)
  }
})

t.test('a translated stream that ends before its first event is a protocol failure', async (t) => {
  const { deps } = setup([[]])
  const refused = await fault(createChat(deps).stream({ ...withoutKey(), routing: auto, body: { messages } }))
  t.match(refused, { kind: 'all_failed', detail: { attempts: [{ outcome: 'protocol' }] } })
})

t.test('if no model has a requested capability, the error names that capability', async (t) => {
  const row = model('llm', { provider: 'a', id: 'm' })
  const { deps } = bench([
    { id: 'a', models: [row], unavailable: () => null, close: () => Promise.resolve(), ports: {} },
  ])
  const chat = createChat(deps)
  const keyless = withoutKey()
  for (const [body, need] of [
    [{ messages, tools: [{}] }, 'tools'],
    [{ messages, response_format: { type: 'json_object' } }, 'structured_output'],
    [{ messages, reasoning_effort: 'low' }, 'reasoning'],
  ] as const) {
    const refused = await fault(chat.complete({ ...keyless, routing: auto, body }))
    t.match(routerError(refused), { code: 'capability_unsupported', message: new RegExp(need) })
  }
})

function said(chunks: { choices: readonly unknown[] }[]): string {
  const choices = chunks.flatMap((chunk) => chunk.choices) as { delta: { content?: string } }[]
  return choices.map(({ delta }) => delta.content ?? '').join('')
}
