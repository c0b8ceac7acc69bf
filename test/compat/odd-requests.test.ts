/** Real clients send odd histories and formats, to providers with and without chat completions. */
import t from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, form, send } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { startAnthropicStub } from '../vendors/anthropic/stub.ts'
import { startGeminiStub } from '../vendors/gemini/stub.ts'

const [anthropic, gemini, openai] = await Promise.all([startAnthropicStub(), startGeminiStub(), startStubOpenAi()])
t.teardown(() => Promise.all([anthropic.close(), gemini.close(), openai.close()]))
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'anth', adapter: 'anthropic', apiKey: 'k', baseUrl: anthropic.url, models: { llm: ['claude-haiku-5-5'] } },
    { id: 'goog', adapter: 'gemini', apiKey: 'k', baseUrl: gemini.url, models: { llm: ['gemini-3.8-flash'] } },
    { id: 'open', adapter: 'openai', apiKey: 'k', baseUrl: `${openai.url}/v1`, models: { llm: ['chat'] } },
  ]),
})

function post(path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return send(parley, path, { method: 'POST', headers, body: JSON.stringify(body) })
}

const chat = (body: object) => post('/v1/chat/completions', body)
const claude = 'anth:claude-haiku-5-5'
const flash = 'goog:gemini-3.8-flash'
const seen = <Body>(stub: { seen: { body: Buffer }[] }) => JSON.parse(String(stub.seen.at(-1)?.body)) as Body

t.test('the 404 for a path without /v1, or with /v1 twice, names the correct path', async (t) => {
  const meant: Record<string, RegExp> = {
    '/responses': /nothing at \/responses\. Did you mean \/v1\/responses\?/,
    '/v1/v1/chat/completions': /Did you mean \/v1\/chat\/completions\?/,
    '/v1/embeddings': /There is nothing at \/v1\/embeddings\.$/,
  }
  for (const [path, message] of Object.entries(meant)) {
    const answer = await send(parley, path, { method: 'POST', body: '{}' })
    t.equal(answer.status, 404)
    t.match(answer.json().error, {
      code: 'not_found',
      message,
      hint: /\/openapi\/compat\.json/,
      type: 'invalid_request_error',
    })
  }
})

t.test('if a required field is missing, the error names the field', async (t) => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const rows: [path: string, body: object, param: string][] = [
    ['/v1/chat/completions', { messages }, '/model'],
    ['/v1/chat/completions', { model: 'auto' }, '/messages'],
    ['/v1/audio/speech', { model: 'auto' }, '/input'],
    ['/v1/audio/speech', { input: 'Hi.' }, '/model'],
  ]
  for (const [path, body, param] of rows) {
    const answer = await post(path, body)
    t.equal(answer.status, 400, param)
    t.match(answer.json().error, { code: 'invalid_parameter', param })
  }
  const parts = [
    { name: 'model', type: 'text/plain', data: 'auto' },
    { name: 'file', filename: 'a.wav', type: 'audio/wav', data: 'RIFF' },
  ]
  for (const [at, param] of [
    [1, 'model'],
    [0, 'file'],
  ] as const) {
    const { body, type } = form(parts.slice(at, at + 1))
    const init = { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) }
    const answer = await send(parley, '/v1/audio/transcriptions', init)
    t.equal(answer.status, 400, param)
    t.match(answer.json().error, { code: 'invalid_parameter', param: new RegExp(param) })
  }
})

t.test('blank arguments of a tool call are an empty object, and broken arguments are passed on as text', async (t) => {
  const tools = [{ type: 'function', function: { name: 'now', parameters: { type: 'object', properties: {} } } }]
  const messages = (args: unknown) => [
    { role: 'user', content: 'time?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'now', arguments: args } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'noon' },
  ]
  const rows: [args: unknown, input: object][] = [
    [' ', {}],
    ['', {}],
    ['\n\t', {}],
    [null, {}],
    [undefined, {}],
    ['null', {}],
    ['\u00a0\r\n', {}],
    ['{}', {}],
    [{}, {}],
    [{ zone: 'CET' }, { zone: 'CET' }],
    [' {"zone": "CET"} ', { zone: 'CET' }],
    ['{"zone": "C', { INVALID_JSON: '{"zone": "C' }],
    ['["CET"]', { INVALID_JSON: '["CET"]' }],
    ['{"zone": "CET",}', { INVALID_JSON: '{"zone": "CET",}' }],
    ['{"zone": "CET"}{"zone": "UTC"}', { INVALID_JSON: '{"zone": "CET"}{"zone": "UTC"}' }],
    ['CET', { INVALID_JSON: 'CET' }],
    ['{"__proto__": {}}', { INVALID_JSON: '{"__proto__": {}}' }],
  ]
  for (const [args, input] of rows) {
    const title = JSON.stringify(args) ?? 'none'
    const answers = await Promise.all([claude, flash].map((model) => chat({ model, tools, messages: messages(args) })))
    for (const { status, text } of answers) t.equal(status, 200, `${title}: ${text}`)
    const { messages: turns } = seen<{ messages: { content: unknown }[] }>(anthropic)
    t.match(turns[1]?.content, [{ type: 'tool_use', id: 'a', name: 'now' }])
    t.same((turns[1]?.content as { input: object }[])[0]?.input, input, title)
    const { contents } = seen<{ contents: { parts: { functionCall?: { args: object } }[] }[] }>(gemini)
    t.same(contents[1]?.parts[0]?.functionCall?.args, input, title)
  }
  t.equal((await chat({ model: 'auto', tools, messages: messages(' ') })).status, 200)

  const items = (args: string) => [
    { role: 'user', content: 'time?' },
    { type: 'function_call', call_id: 'a', name: 'now', arguments: args },
    { type: 'function_call_output', call_id: 'a', output: 'noon' },
  ]
  for (const [args, expected] of [
    [' ', '{}'],
    ['null', '{}'],
    ['{"zone": "C', '{"zone": "C'],
  ] as const) {
    t.equal((await post('/v1/responses', { model: 'open:chat', input: items(args) })).status, 200)
    const sent = openai.requests.at(-1)?.json as { messages: { tool_calls: { function: object }[] }[] }
    t.match(sent.messages[1]?.tool_calls[0]?.function, { arguments: expected }, 'a server of chat completions')
  }
  const native = [{ role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'now', args: ' ' }] }]
  const history = [...native, { role: 'tool', toolCallId: 'a', content: 'noon' }]
  t.equal(
    (await post('/v1/complete', { model: claude, messages: [{ role: 'user', content: 'time?' }, ...history] })).status,
    200,
  )
})

t.test('a translated answer has an empty object for a tool call without arguments, also as a stream', async (t) => {
  const events = [
    { type: 'message_start', message: { model: 'claude-haiku-5-5', usage: { input_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'now', input: {} } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const tools = [{ type: 'function', function: { name: 'now' } }]
  const messages = [{ role: 'user', content: 'time?' }]
  anthropic.play((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  })
  const { text } = await chat({ model: claude, tools, messages, stream: true })
  type Chunk = { choices: { delta: { tool_calls?: { function: { arguments: string } }[] } }[] }
  const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Chunk)
  const calls = chunks.flatMap(({ choices: [choice] }) => choice?.delta.tool_calls ?? [])
  t.equal(calls.map((call) => call.function.arguments).join(''), '{}', text)
  anthropic.behave('ok')
})

t.test('a refusal part of an assistant message is passed on as text', async (t) => {
  const refusal = 'I cannot say the rest.'
  const rows: [message: object, said: string][] = [
    [
      {
        content: [
          { type: 'text', text: 'partly' },
          { type: 'refusal', refusal },
        ],
      },
      `partly\n${refusal}`,
    ],
    [{ content: [{ type: 'refusal', refusal }] }, refusal],
    [{ content: null, refusal }, refusal],
    [{ content: 'partly', refusal }, `partly\n${refusal}`],
    [{ content: 'whole', refusal: null }, 'whole'],
    [
      {
        content: [
          { type: 'text', text: 'whole' },
          { type: 'refusal', refusal: '' },
        ],
      },
      'whole',
    ],
  ]
  for (const [message, said] of rows) {
    const title = JSON.stringify(message)
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', ...message },
      { role: 'user', content: 'why?' },
    ]
    for (const model of [claude, flash]) {
      const { status, text } = await chat({ model, messages })
      t.equal(status, 200, `${title}: ${text}`)
    }
    const { messages: turns } = seen<{ messages: object[] }>(anthropic)
    t.same(turns[1], { role: 'assistant', content: [{ type: 'text', text: said }] }, title)
    t.same(seen<{ contents: object[] }>(gemini).contents[1], { role: 'model', parts: [{ text: said }] }, title)
  }
  const asked = { role: 'user', content: [{ type: 'refusal', refusal }] }
  const refused = await chat({ model: claude, messages: [asked] })
  t.match(refused.json().error, { param: '/messages/0/content/0' }, 'only an assistant refuses')
})

t.test('if a pinned model does not support a setting, the error names it; auto uses another model', async (t) => {
  const messages = [{ role: 'user', content: 'Answer in JSON.' }]
  const json = { type: 'json_object' }
  const open = {
    type: 'json_schema',
    json_schema: { name: 'x', schema: { type: 'object', additionalProperties: true } },
  }
  const forced = { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }
  const rows: [path: string, body: object, param: string][] = [
    ['/v1/chat/completions', { messages, response_format: json }, '/response_format'],
    ['/v1/chat/completions', { messages, response_format: json, stream: true }, '/response_format'],
    ['/v1/chat/completions', { messages, response_format: open }, '/response_format'],
    ['/v1/chat/completions', { messages, response_format: { type: 'grammar' } }, '/response_format'],
    ['/v1/chat/completions', { messages, ...forced, reasoning_effort: 'high' }, '/tool_choice'],
    ['/v1/chat/completions', { messages, reasoning_effort: 'huge' }, '/reasoning_effort'],
    ['/v1/responses', { input: 'Answer in JSON.', text: { format: json } }, '/text/format'],
    ['/v1/responses', { input: 'Hi', text: { format: json }, stream: true }, '/text/format'],
    ['/v1/responses', { input: 'Hi', temperature: 0.5 }, '/temperature'],
  ]
  for (const [path, body, param] of rows) {
    const answer = await post(path, { model: claude, ...body })
    t.equal(answer.status, 400, `${path} ${JSON.stringify(body)}`)
    t.match(answer.json().error, { code: 'capability_unsupported', param })
  }
  t.equal((await chat({ model: flash, messages, response_format: json })).status, 200)
  t.match(seen(gemini), { generationConfig: { responseMimeType: 'application/json' } })
  t.equal((await chat({ model: 'local:scripted', messages, response_format: json })).status, 200)
  const auto = await chat({ model: 'auto', messages, response_format: json })
  t.equal(auto.status, 200, auto.text)
})
