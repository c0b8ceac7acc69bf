import type { ServerResponse } from 'node:http'
import t from 'tap'
import { type Adapters, apiKey, ask, collect, failure, json, never, openStub } from './openai-setup.ts'
import { stubText } from './stub-openai.ts'

const { stub, provider, real } = await openStub(t)

t.test('chat: every field of a request reaches the server', async (t) => {
  await real.llm.respond(
    {
      model: 'chat',
      items: [
        { type: 'message', role: 'system', text: 'Be brief.' },
        { type: 'message', role: 'user', text: 'Weather and time?' },
        { type: 'message', role: 'assistant', text: 'Looking.' },
        { type: 'function_call', callId: 'a', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', callId: 'b', name: 'clock', arguments: '{}' },
        { type: 'function_result', callId: 'a', result: 'rain' },
        { type: 'function_result', callId: 'b', result: 'noon' },
      ],
      maxOutputTokens: 32,
      tools: [{ name: 'weather', description: 'Weather', parameters: { type: 'object' } }, { name: 'clock' }],
      toolChoice: { name: 'clock' },
      responseFormat: { name: 'answer', schema: { type: 'object' }, strict: true },
      temperature: 0,
      topP: 0.5,
      reasoningEffort: 'low',
    },
    never,
  )
  const sent = stub.requests.at(-1)
  t.match(sent, { method: 'POST', path: '/v1/chat/completions', headers: { authorization: `Bearer ${apiKey}` } })
  const call = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })
  t.same(sent?.json, {
    model: 'chat',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [call('a', 'weather', '{"city":"Oslo"}'), call('b', 'clock', '{}')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'rain' },
      { role: 'tool', tool_call_id: 'b', content: 'noon' },
    ],
    max_tokens: 32,
    temperature: 0,
    top_p: 0.5,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' }, strict: true } },
    tools: [
      { type: 'function', function: { name: 'weather', description: 'Weather', parameters: { type: 'object' } } },
      { type: 'function', function: { name: 'clock' } },
    ],
    tool_choice: { type: 'function', function: { name: 'clock' } },
  })
})

t.test('chat: absent fields are not sent, and the token limit is sent under one field name', async (t) => {
  const messages = [{ role: 'user', content: 'Hello' }]
  const asked = async (adapters: Adapters, model: string) => {
    await adapters.llm.respond({ ...ask, model, toolChoice: 'auto' }, never)
    return stub.requests.at(-1)?.json
  }
  t.same(await asked(real, 'chat'), { model: 'chat', messages, max_tokens: 64 })
  t.same(await asked(real, 'gpt-5-mini'), { model: 'gpt-5-mini', messages, max_completion_tokens: 64 })
  t.same(await asked(real, 'o3'), { model: 'o3', messages, max_completion_tokens: 64 })
  const vendor = provider({ maxTokensField: 'max_completion_tokens', apiKey: null })
  t.same(await asked(vendor, 'gpt-4o'), { model: 'gpt-4o', messages, max_completion_tokens: 64 })
  t.equal(stub.requests.at(-1)?.headers.authorization, undefined, 'no key, no header')
  await vendor.close()
})

t.test('chat: the text, the tool calls, the stop reason and the usage of an answer are read', async (t) => {
  const usage = { inputTokens: 8, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 3 }
  t.same(await real.llm.respond(ask, never), { text: stubText, calls: [], stopReason: 'stop', usage })
  stub.behave({ kind: 'ok', finish: 'length' }, { kind: 'ok', finish: 'content_filter' }, { kind: 'tool_call' })
  t.equal((await real.llm.respond(ask, never)).stopReason, 'max_output_tokens')
  t.equal((await real.llm.respond(ask, never)).stopReason, 'stop')
  t.same(await real.llm.respond(ask, never), {
    text: '',
    calls: [
      { callId: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
      { callId: 'call_b', name: 'clock', arguments: '{}' },
    ],
    stopReason: 'tool_call',
    usage,
  })
  stub.behave(json({ choices: [{ message: { content: null }, finish_reason: 'content_filter' }] }))
  t.equal((await failure(real.llm.respond(ask, never))).errorClass, 'bad_request', 'a filter that left nothing')
})

t.test('chat: the usage is correct even if the server counts reasoning in addition to the output', async (t) => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 35,
    completion_tokens_details: { reasoning_tokens: 20 },
  }
  stub.behave(json({ choices: [{ message: { content: 'x' }, finish_reason: 'stop' }], usage }))
  const { usage: split } = await real.llm.respond(ask, never)
  t.same(split, { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 20 })
})

t.test('chat stream: text, tool calls and usage arrive as events', async (t) => {
  const usage = { inputTokens: 8, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 3 }
  t.same(await collect(real.llm.stream(ask, never)), [
    { type: 'text', delta: 'Hello ' },
    { type: 'text', delta: 'from ' },
    { type: 'text', delta: 'the ' },
    { type: 'text', delta: 'stub.' },
    { type: 'end', stopReason: 'stop', usage },
  ])
  t.match(stub.requests.at(-1)?.json, { stream: true, stream_options: { include_usage: true } })
  stub.behave({ kind: 'tool_call' })
  t.same(await collect(real.llm.stream(ask, never)), [
    { type: 'call', index: 0, callId: 'call_a', name: 'weather' },
    { type: 'arguments', index: 0, delta: '{"city":' },
    { type: 'arguments', index: 0, delta: '"Oslo"}' },
    { type: 'call', index: 1, callId: 'call_b', name: 'clock' },
    { type: 'arguments', index: 1, delta: '{}' },
    { type: 'end', stopReason: 'tool_call', usage },
  ])
  const counting = provider({ asksForUsage: false })
  await collect(counting.llm.stream(ask, never))
  t.equal(stub.requests.at(-1)?.json['stream_options'], undefined, 'a server that counts by itself is not asked')
  await counting.close()
})

t.test('chat stream: the deviations of different servers are understood', async (t) => {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const whole = { function: { name: 'clock', arguments: { zone: 'UTC' } } }
  const events = async (text: string) => {
    stub.behave({ kind: 'custom', answer: (_, response) => sendEvents(response, text) })
    return collect(real.llm.stream(ask, never))
  }
  const withoutIds = await events(chunk({ tool_calls: [whole] }) + chunk({}, 'stop') + 'data: [DONE]\n\n')
  t.match(withoutIds, [
    { type: 'call', index: 0, callId: 'call_c1_0', name: 'clock' },
    { type: 'arguments', index: 0, delta: '{"zone":"UTC"}' },
    { type: 'end', stopReason: 'tool_call' },
  ])
  const withoutDone = await events(`: ping\r\n\r\n${chunk({ content: 'Grüß ' })}${chunk({ content: 'dich' }, 'stop')}`)
  t.match(withoutDone, [{ delta: 'Grüß ' }, { delta: 'dich' }, { type: 'end', stopReason: 'stop' }])
  const doneWithoutFinish = failure(events(`${chunk({ content: 'x' })}data: [DONE]\n\n`))
  t.equal((await doneWithoutFinish).errorClass, 'protocol')
  const busy = `data: ${JSON.stringify({ error: { code: 503, message: 'busy' } })}\n\n`
  t.equal((await failure(events(chunk({ content: 'x' }) + busy))).errorClass, 'overloaded')
})

t.test('after a chat stream ends well, its connection is used for the next request', async (t) => {
  const own = provider()
  for (let i = 0; i < 5; i++) {
    await collect(own.llm.stream(ask, never))
    await new Promise(setImmediate)
  }
  const before = stub.connections()
  for (let i = 0; i < 5; i++) {
    await collect(own.llm.stream(ask, never))
    await new Promise(setImmediate)
  }
  t.equal(stub.connections(), before)
  await own.close()
})

function sendEvents(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // The body is cut inside a character, because the reader must not depend on where chunks end.
  const bytes = Buffer.from(text)
  const middle = bytes.indexOf(0xc3) + 1
  response.write(bytes.subarray(0, middle))
  setTimeout(() => response.end(bytes.subarray(middle)), 5)
}
