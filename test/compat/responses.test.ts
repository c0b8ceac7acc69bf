/** OpenAI's Responses API over HTTP, with a stub as the provider. test/clients tests the vendors' clients. */
import t, { type Test } from 'tap'
import { startStubOpenAi, stubText } from '../providers/stub-openai.ts'
import { type Answer, send } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { type Event, eventsOf, type Response } from './response-events.ts'

const stub = await startStubOpenAi()
const models = { llm: ['chat'] }
t.teardown(() => stub.close())
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([{ id: 'stub', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models }]),
})

const model = 'stub:chat'
const sent = () => stub.requests.at(-1)?.json ?? {}
const weather = { type: 'function', name: 'weather', parameters: { type: 'object' } }
const clock = { type: 'function', name: 'clock', description: 'The time.', strict: true }

function respond(body: object): Promise<Answer> {
  return send(parley, '/v1/responses', {
    method: 'POST',
    body: JSON.stringify({ model, input: 'Hi', ...body }),
    headers: { 'content-type': 'application/json' },
  })
}

async function stream(t: Test, body: object = {}): Promise<Event[]> {
  return eventsOf(t, await respond({ stream: true, ...body }))
}

const types = (events: Event[]) => events.map(({ type }) => type)

t.test('createCompatResponse returns the response of the pinned model', async (t) => {
  const answer = await respond({ instructions: 'Be brief.', temperature: 0.2, metadata: { a: 'b' }, store: true })
  t.equal(answer.status, 200, answer.text)
  t.match(answer.headers.get('x-route'), 'stub/chat')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const requestId = answer.headers.get('service-request-id') ?? ''
  t.same(answer.json(), {
    id: `resp_${requestId}`,
    object: 'response',
    created_at: answer.json<{ created_at: number }>().created_at,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: 'Be brief.',
    max_output_tokens: null,
    metadata: { a: 'b' },
    model: 'stub:chat',
    output: [
      {
        id: `msg_${requestId}_0`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: stubText, annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 0.2,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: {
      input_tokens: 12,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 21,
    },
  })
  t.same(sent(), {
    model: 'chat',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
    ],
    max_tokens: 4096,
    temperature: 0.2,
  })
})

t.test('an unknown model is refused, and the error names it', async (t) => {
  const { status, text } = await respond({ model: 'mistral-medium-latest' })
  t.equal(status, 404)
  t.match(text, /mistral-medium-latest needs a credential that this server does not have: set MISTRAL_API_KEY/)
})

t.test('a history with function calls and their results reaches the provider', async (t) => {
  stub.behave({ kind: 'tool_call' })
  const input = [
    { role: 'developer', content: 'Be kind.' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Wea' },
        { type: 'input_text', text: 'ther?' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'One moment.', annotations: [] }],
    },
    {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'weather',
      arguments: '{"city":"Oslo"}',
      status: 'completed',
    },
    { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Rain' }] },
    { type: 'function_call', call_id: 'call_2', name: 'clock', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_2', output: '' },
  ]
  const answer = await respond({ input, tools: [weather, clock], tool_choice: { type: 'function', name: 'clock' } })
  t.equal(answer.status, 200, answer.text)
  const call = (id: string, name: string, text: string) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  })
  t.match(sent(), {
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'One moment.', tool_calls: [call('call_1', 'weather', '{"city":"Oslo"}')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      { role: 'assistant', tool_calls: [call('call_2', 'clock', '{}')] },
      { role: 'tool', tool_call_id: 'call_2', content: '' },
    ],
    tools: [
      { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } },
      { type: 'function', function: { name: 'clock', description: 'The time.' } },
    ],
    tool_choice: { type: 'function', function: { name: 'clock' } },
  })
  const { status, output } = answer.json<Response>()
  t.equal(status, 'completed')
  t.match(output, [
    { type: 'function_call', status: 'completed', call_id: 'call_a', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', status: 'completed', call_id: 'call_b', name: 'clock', arguments: '{}' },
  ])
})

t.test('structured output is returned as the text of a message', async (t) => {
  const schema = { type: 'object', properties: { time: { type: 'string' } } }
  stub.behave({ kind: 'ok', text: '{ "time": "19:00" }' })
  const format = { type: 'json_schema', name: 'booking', schema, strict: true }
  const answer = await respond({ text: { format, verbosity: 'low' } })
  t.match(answer.json(), { output: [{ content: [{ text: '{ "time": "19:00" }' }] }], text: { format } })
  t.match(sent(), { response_format: { type: 'json_schema', json_schema: { name: 'booking', schema, strict: true } } })
  stub.behave({ kind: 'ok', text: '{}' })
  t.equal((await respond({ text: { format: { type: 'json_object' } } })).status, 200)
  t.match(sent(), { response_format: { type: 'json_schema', json_schema: { schema: { type: 'object' } } } })
})

t.test('if the token limit cuts an answer off, the answer and only its last item are incomplete', async (t) => {
  stub.behave({ kind: 'ok', text: '{"time": "1', finish: 'length' })
  const format = { type: 'json_schema', name: 'booking', schema: { type: 'object' } }
  t.match((await respond({ text: { format }, max_output_tokens: 3 })).json(), {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    max_output_tokens: 3,
    output: [{ status: 'incomplete', content: [{ text: '{"time": "1' }] }],
  })
  stub.behave({ kind: 'ok', finish: 'length' })
  const events = await stream(t)
  t.match(events.at(-2), { type: 'response.output_item.done', item: { status: 'incomplete' } })
  t.match(events.at(-1), {
    type: 'response.incomplete',
    response: { status: 'incomplete', usage: { total_tokens: 21 } },
  })
})

t.test('a function call that the token limit cut off is incomplete', async (t) => {
  stub.behave({
    kind: 'custom',
    answer: (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const call = (index: number, id: string, text: string) => ({
        index,
        id,
        type: 'function',
        function: { name: 'weather', arguments: text },
      })
      const choice = (delta: object, finish: string | null = null) =>
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
      choice({ tool_calls: [call(0, 'call_a', '{"city":"Oslo"}')] })
      choice({ tool_calls: [call(1, 'call_b', '{"city":"O')] })
      choice({}, 'length')
      response.end('data: [DONE]\n\n')
    },
  })
  const events = await stream(t, { tools: [weather] })
  t.match(
    events.filter(({ type }) => type === 'response.function_call_arguments.done'),
    [{ arguments: '{"city":"Oslo"}' }],
  )
  t.match(events.at(-1)?.response?.output, [{ status: 'completed' }, { status: 'incomplete', arguments: '{"city":"O' }])
})

t.test('createCompatResponse can stream its events', async (t) => {
  const events = await stream(t)
  const deltas = types(events).filter((type) => type === 'response.output_text.delta')
  t.same(types(events), [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    ...deltas,
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  t.equal(deltas.length, 4)
  t.equal(events.map(({ delta = '' }) => delta).join(''), stubText)
  const id = events.at(-1)?.response?.output[0]?.id
  t.match(id, /^msg_req_/)
  for (const event of events.filter(({ item_id: itemId }) => itemId !== undefined)) t.equal(event['item_id'], id)
  t.match(events[0], { response: { status: 'in_progress', output: [], usage: null } })
  t.match(events.at(-1)?.response, { status: 'completed', usage: { input_tokens: 12 }, id: events[0]?.response?.id })
})

t.test('function calls arrive in pieces in a stream of responses', async (t) => {
  stub.behave({ kind: 'tool_call' })
  const events = await stream(t, { tools: [weather, clock] })
  const added = events.filter(({ type }) => type === 'response.output_item.added')
  t.match(added, [
    { output_index: 0, item: { type: 'function_call', status: 'in_progress', call_id: 'call_a', arguments: '' } },
    { output_index: 1, item: { type: 'function_call', status: 'in_progress', call_id: 'call_b', arguments: '' } },
  ])
  const deltas = events.filter(({ type, output_index: at }) => type.endsWith('arguments.delta') && at === 0)
  t.equal(deltas.map(({ delta }) => delta).join(''), '{"city":"Oslo"}')
  t.match(
    events.filter(({ type }) => type.endsWith('arguments.done')),
    [{ name: 'weather', arguments: '{"city":"Oslo"}' }, { name: 'clock' }],
  )
  t.equal(events.at(-1)?.type, 'response.completed')
})

t.test('a field that needs a store or server-side tools is refused by name', async (t) => {
  const image = {
    role: 'user',
    content: [
      { type: 'input_text', text: 'See?' },
      { type: 'input_image', image_url: 'data:' },
    ],
  }
  const cases: [object, string, RegExp][] = [
    [{ previous_response_id: 'resp_1' }, '/previous_response_id', /stores no responses: send the whole history/],
    [{ conversation: { id: 'conv_1' } }, '/conversation', /stores no responses/],
    [{ prompt: { id: 'pmpt_1' } }, '/prompt', /stores no prompts/],
    [{ background: true }, '/background', /set stream/],
    [{ tools: [weather, { type: 'web_search' }] }, '/tools/1/type', /type web_search .* runs no tools/],
    [{ tools: [weather, weather] }, '/tools/1/name', /same name/],
    [{ tool_choice: 'required' }, '/tool_choice', /no tools/],
    [{ tools: [weather], tool_choice: { type: 'file_search' } }, '/tool_choice', /type file_search/],
    [{ tools: [weather], tool_choice: { type: 'function', name: 'other' } }, '/tool_choice/name', /not in tools/],
    [{ input: [image] }, '/input/0/content/1/type', /type input_image .* takes text/],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, '/input/0/type', /store: false/],
    [{ input: [{ type: 'computer_call', id: 'c' }] }, '/input/0/type', /type computer_call/],
    [{ input: [{ type: '"quoted" content' }] }, '/input/0/type', /type this kind/],
    [{ input: [{ role: 'robot', content: 'x' }] }, '/input/0/role', /developer/],
    [{ input: [{ role: 'toString', content: 'x' }] }, '/input/0/role', /developer/],
    [{ input: [{ role: 'user', content: 7 }] }, '/input/0/content', /string or a list/],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'weather' }] }, '/input/0/arguments', /needs arguments/],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, '/input/0/call_id', /needs call_id/],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, '/text/format', /a schema/],
    [{ max_output_tokens: 0 }, '/max_output_tokens', />= 1/],
  ]
  for (const [body, param, message] of cases) {
    const answer = await respond(body)
    t.equal(answer.status, 400, param)
    t.match(answer.json().error, { code: 'invalid_parameter', param, message, type: 'invalid_request_error' })
  }
})

t.test('unknown fields that real clients send are accepted', async (t) => {
  const answer = await respond({
    include: ['reasoning.encrypted_content'],
    truncation: 'auto',
    parallel_tool_calls: false,
    metadata: null,
    user: 'u',
    store: false,
    background: false,
    previous_response_id: null,
    conversation: null,
    instructions: null,
    tools: null,
    tool_choice: null,
    text: null,
    reasoning: null,
    max_output_tokens: null,
    temperature: null,
    top_p: null,
    service_tier: 'auto',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    top_logprobs: 0,
    anything: { deep: [1] },
  })
  t.equal(answer.status, 200, answer.text)
  t.match(answer.json(), { parallel_tool_calls: false, metadata: {}, tools: [], tool_choice: 'auto' })
  t.equal(
    answer.headers.get('x-service-ignored'),
    'include, truncation, parallel_tool_calls, user, prompt_cache_key, safety_identifier, anything',
  )
  const format = { text: { verbosity: 'low' }, reasoning: { summary: null }, truncation: 'disabled', 'a b': 1 }
  t.equal((await respond(format)).headers.get('x-service-ignored'), 'text.verbosity')
  t.notOk((await respond({ store: true })).headers.has('x-service-ignored'))
})

// This test is the last one, because it opens the provider's circuit.
t.test('a stream that breaks off ends with error and response.failed', async (t) => {
  stub.behave({ kind: 'status', status: 400 })
  t.equal((await respond({ stream: true })).status, 502, 'before the first event the failure has its status')
  for (const kind of ['cut', 'reset', 'error_mid'] as const) {
    stub.behave({ kind })
    const events = await stream(t)
    const [error, failed] = events.slice(-2)
    t.match(error, { type: 'error', code: 'provider_error', message: /broke off/, param: null }, kind)
    t.match(error?.['error'], { type: 'provider_error', hint: String, request_id: String })
    t.match(failed, {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' }, usage: null },
    })
  }
})
