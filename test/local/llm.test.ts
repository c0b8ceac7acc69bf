import Ajv from 'ajv'
import t from 'tap'
import type { LlmEvent, LlmItem, LlmRequest } from '../../domain/ports/llm.ts'
import { createScriptedLlm } from '../../providers/local/script/llm.ts'
import { smallestValue } from '../../providers/local/script/smallest-value.ts'
import { outcome } from './setup.ts'

const llm = createScriptedLlm()
const signal = new AbortController().signal
const weather = {
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1 },
      days: { type: 'integer', minimum: 1 },
      unit: { enum: ['C', 'F'] },
    },
    required: ['city', 'days'],
  },
}

function request(text: string, more: Partial<LlmRequest> = {}): LlmRequest {
  return {
    model: 'scripted',
    items: [{ type: 'message', role: 'user', text }],
    maxOutputTokens: 100,
    tools: [],
    ...more,
  }
}

t.test('simple questions are answered, and no answer claims to come from a model', async (t) => {
  const say = async (text: string) => (await llm.respond(request(text), signal)).text
  t.equal(await say('Say: good evening everybody'), 'good evening everybody')
  t.equal(await say('What is 6 times 7?'), '6 times 7 is 42.')
  t.match(await say('Hello'), /^Hello! .*not a language model/)
  t.match(await say('Who are you?'), /rule-based stand-in, not a language model/)
  t.match(
    await say('Tell me about Ghent.'),
    /not a language model, and I have no rule.*You said: Tell me about Ghent\./,
  )
  t.match(await say(''), /not a language model/)
  t.equal(await say('Hello'), await say('Hello'))
})

t.test('the embedded LLM streams the answer word by word, with one end event', async (t) => {
  const events: LlmEvent[] = []
  for await (const event of llm.stream(request('Say one two  three'), signal)) events.push(event)
  t.same(events.slice(0, -1), [
    { type: 'text', delta: 'one' },
    { type: 'text', delta: ' two' },
    { type: 'text', delta: '  three' },
  ])
  const usage = { inputTokens: 4, cachedInputTokens: 0, outputTokens: 3, reasoningTokens: 0 }
  t.same(events.at(-1), { type: 'end', stopReason: 'stop', usage })
})

t.test('the answer ends before the first stop sequence', async (t) => {
  const until = async (...stop: string[]) => (await llm.respond(request('Say one two three', { stop }), signal)).text
  t.equal(await until('three'), 'one two')
  t.equal(await until('three', 'wo'), 'one t')
  t.equal(await until('four'), 'one two three')
  const empty = await llm.respond(request('Say one two three', { stop: ['one'] }), signal)
  t.match(empty, { text: '', stopReason: 'stop', usage: { outputTokens: 1 } }, 'an empty answer counts its stop text')
})

t.test('the limit of output tokens is respected', async (t) => {
  const answer = await llm.respond(request('Say one two three', { maxOutputTokens: 2 }), signal)
  t.equal(answer.text, 'one two')
  t.equal(answer.stopReason, 'max_output_tokens')
  t.equal(answer.usage.outputTokens, 2)
})

t.test('a tool is called if the caller names the tool, or if the request demands a tool call', async (t) => {
  const tools = [{ name: 'hang_up' }, weather]
  const named = await llm.respond(request('Please get weather for me', { tools }), signal)
  t.same(named.calls, [{ callId: 'call_1', name: 'get_weather', arguments: '{"city":"x","days":1}' }])
  t.equal(named.stopReason, 'tool_call')
  t.equal(named.text, '')
  const calls = async (more: Partial<LlmRequest>) =>
    (await llm.respond(request('Hello', { tools, ...more }), signal)).calls.map(({ name }) => name)
  t.same(await calls({}), [])
  t.same(await calls({ toolChoice: 'required' }), ['hang_up'])
  t.same(await calls({ toolChoice: { name: 'get_weather' } }), ['get_weather'])
  t.same((await llm.respond(request('get_weather', { tools, toolChoice: 'none' }), signal)).calls, [])
  const items: LlmItem[] = [
    { type: 'message', role: 'user', text: 'get_weather now' },
    { type: 'function_call', callId: 'call_1', name: 'get_weather', arguments: '{}' },
    { type: 'function_result', callId: 'call_1', result: '21 degrees' },
  ]
  const after = await llm.respond({ ...request(''), items, tools }, signal)
  t.equal(after.text, 'The tool answered: 21 degrees')
  const again = await llm.respond({ ...request(''), items, tools, toolChoice: 'required' }, signal)
  t.equal(again.calls[0]!.callId, 'call_2', 'an id of its own')
})

t.test('an answer with a schema satisfies the schema', async (t) => {
  const ajv = new Ajv.default({ strict: false })
  const schemas = [
    weather.parameters,
    { type: 'array', items: { type: 'number', exclusiveMinimum: 3 }, minItems: 2 },
    {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 5, multipleOf: 4 }, b: { type: ['boolean', 'null'] } },
      required: ['n', 'b'],
    },
    { type: 'object', properties: { kind: { const: 'x' } }, required: ['kind'], additionalProperties: false },
    { anyOf: [{ type: 'string', minLength: 3 }, { type: 'null' }] },
    {
      allOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'null' } }, required: ['b'] },
      ],
    },
    {
      $defs: { node: { type: 'object', properties: { id: { type: 'integer', maximum: -2 } }, required: ['id'] } },
      $ref: '#/$defs/node',
    },
    { type: 'number', minimum: 0.5, maximum: 0.75 },
  ]
  for (const schema of schemas) {
    const answer = await llm.respond(request('fill it in', { responseFormat: { name: 'form', schema } }), signal)
    t.ok(ajv.validate(schema, JSON.parse(answer.text)), `${JSON.stringify(schema)}: ${answer.text}`)
  }
  const endless = { $ref: '#' }
  t.equal(smallestValue(endless), null, 'a schema that refers to itself ends')
  const names = Array.from({ length: 10 }, (_, at) => `name${at}`)
  const wide = {
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: '#' }])),
  }
  const arrays = { type: 'array', minItems: 1000, items: { $ref: '#' } }
  const merged = {
    allOf: Array.from({ length: 5000 }, () => ({ type: 'object', required: ['a'], properties: { a: { $ref: '#' } } })),
  }
  for (const schema of [wide, arrays, merged]) {
    const startedMs = process.cpuUsage().user / 1000
    t.ok(JSON.stringify(smallestValue(schema)).length < 1_000_000)
    t.ok(process.cpuUsage().user / 1000 - startedMs < 200, 'one that does so often, too')
  }
})

t.test('after a request is cancelled, no more events are received', async (t) => {
  const leaving = new AbortController()
  const events = llm.stream(request(`Say ${'word '.repeat(50)}`), leaving.signal)[Symbol.asyncIterator]()
  await events.next()
  leaving.abort()
  t.equal(await outcome(events.next()), 'cancelled sent')
})
