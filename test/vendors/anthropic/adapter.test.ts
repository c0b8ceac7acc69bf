import t from 'tap'
import type { Llm, LlmAnswer, LlmEvent, LlmRequest } from '../../../domain/ports/llm.ts'
import { type ErrorClass, ProviderError } from '../../../domain/ports/provider-error.ts'
import { llmRequestOf } from '../../../handlers/compat/openai/chat-request.ts'
import { translatedAnswer } from '../../../handlers/compat/openai/chat-translation.ts'
import { anthropicModels } from '../../../providers/anthropic/models.ts'
import { createAnthropicProvider } from '../../../providers/anthropic/provider.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { catalog, present, vendorOptions } from '../suite/given.ts'
import { answerText, llmSuite, weather } from '../suite/llm.ts'
import { sendEvent, sendJson } from '../suite/stub-server.ts'
import { errorBody, startAnthropicStub } from './stub.ts'

const apiKey = 'sk-ant-stub-0123456789'
const stub = await startAnthropicStub()
const adapter = (baseUrl: string, limits: OutboundLimits) =>
  createAnthropicProvider(vendorOptions('anthropic', apiKey, baseUrl, limits))
const provider = adapter(stub.url, outboundDefaults)
const llm: Llm = present(provider.ports.llm, 'llm')
t.teardown(async () => {
  await provider.close()
  await stub.close()
})

const never = new AbortController().signal
const usage = { inputTokens: 25, cachedInputTokens: 40, outputTokens: 9, reasoningTokens: 3 }
const keeps = { sockets: 1, because: 'the pool opens another connection for one that a call was cut off from' }
const ask: LlmRequest = {
  model: 'claude-haiku-4-5',
  items: [{ type: 'message', role: 'user', text: 'Hello' }],
  maxOutputTokens: 64,
  tools: [],
}

t.test('Claude passes the shared adapter tests for LLMs', (t) =>
  llmSuite(t, { provider: adapter, stub, model: 'claude-haiku-4-5', apiKey, usage, answeredBy: ask.model, keeps }),
)

t.test('a conversation is sent in the fields of the Messages API', async (t) => {
  t.same(
    await bodyOf({
      ...ask,
      items: [
        { type: 'message', role: 'system', text: 'Be brief.' },
        { type: 'message', role: 'user', text: 'Oslo or Bergen?' },
        { type: 'message', role: 'assistant', text: '' },
        { type: 'function_call', callId: 'a', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'function_call', callId: 'b', name: 'weather', arguments: '' },
        { type: 'function_result', callId: 'a', result: 'rain' },
        { type: 'message', role: 'user', text: 'Well?' },
        { type: 'function_result', callId: 'b', result: 'snow' },
        { type: 'message', role: 'system', text: 'Answer now.' },
      ],
      tools: [weather, { name: 'wait' }],
      toolChoice: { name: 'weather' },
      temperature: 0.5,
      topP: 1,
    }),
    {
      model: 'claude-haiku-4-5',
      max_tokens: 64,
      system: 'Be brief.\n\nAnswer now.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Oslo or Bergen?' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Oslo' } },
            { type: 'tool_use', id: 'b', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'rain' },
            { type: 'tool_result', tool_use_id: 'b', content: 'snow' },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
      temperature: 0.5,
      tools: [
        { name: 'weather', description: weather.description, input_schema: weather.parameters },
        { name: 'wait', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'tool', name: 'weather' },
    },
  )
  t.match(stub.seen[0], { path: '/v1/messages', headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' } })
  t.match(await bodyOf({ ...ask, tools: [weather], toolChoice: 'required' }), { tool_choice: { type: 'any' } })
  t.notOk('tool_choice' in (await bodyOf({ ...ask, toolChoice: 'auto' })), 'a choice among no tools is not sent')
})

t.test('structured output is requested with a schema that allows no other properties', async (t) => {
  const object = { type: 'object', properties: { city: { type: 'string', enum: ['Oslo'] } }, required: ['city'] }
  const cities = { type: 'array', items: object }
  const properties = { cities, type: { type: 'string' } }
  t.match(
    await bodyOf({
      ...ask,
      responseFormat: { name: 'x', schema: { type: 'object', properties, required: ['cities'] } },
    }),
    {
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            additionalProperties: false,
            properties: { cities: { type: 'array', items: { ...object, additionalProperties: false } } },
          },
        },
      },
    },
  )
  for (const schema of [{ type: 'object' }, { type: 'object', properties: {}, additionalProperties: true }])
    t.match(await failureOf({ ...ask, responseFormat: { name: 'x', schema } }), {
      errorClass: 'unsupported',
      sent: false,
    })
})

t.test('each Claude model gets only fields that it accepts', async (t) => {
  const effort = (level: string) => ({ output_config: { effort: level } })
  const rows: [change: Partial<LlmRequest>, sent: object | null][] = [
    [{ model: 'claude-sonnet-5-5', reasoningEffort: 'xhigh' }, effort('xhigh')],
    [{ model: 'claude-sonnet-5-5', reasoningEffort: 'minimal' }, effort('low')],
    [{ model: 'claude-sonnet-5-5', reasoningEffort: 'none' }, null],
    [{ model: 'claude-sonnet-5-5', tools: [weather], toolChoice: 'required' }, null],
    [{ model: 'claude-sonnet-5-5', temperature: 0.2 }, null],
    [{ model: 'claude-haiku-5-5', reasoningEffort: 'none' }, { thinking: { type: 'disabled' } }],
    [{ model: 'claude-haiku-5-5', tools: [weather], toolChoice: 'required' }, { thinking: { type: 'disabled' } }],
    [
      { model: 'claude-sonnet-4-6', reasoningEffort: 'low' },
      { thinking: { type: 'adaptive' }, ...effort('low') },
    ],
    [{ model: 'claude-sonnet-4-6', reasoningEffort: 'xhigh' }, null],
    [{ model: 'claude-sonnet-4-6', reasoningEffort: 'low', tools: [weather], toolChoice: 'required' }, null],
    [{ model: 'claude-haiku-4-5', reasoningEffort: 'low' }, null],
    [{ model: 'claude-haiku-4-5', temperature: 1.5 }, null],
  ]
  for (const [change, sent] of rows) {
    const title = JSON.stringify(change)
    if (sent) t.match(await bodyOf({ ...ask, ...change }), sent, title)
    else t.match(await failureOf({ ...ask, ...change }), { errorClass: 'unsupported', sent: false }, title)
  }
  const both = { ...ask, model: 'claude-haiku-5-5', reasoningEffort: 'low', responseFormat: { name: 'x', schema: {} } }
  t.match(await bodyOf(both), { output_config: { effort: 'low', format: { type: 'json_schema' } } })
  t.notOk(
    'temperature' in (await bodyOf({ ...ask, model: 'claude-haiku-5-5', temperature: 1 })),
    'the default is not said',
  )
})

t.test("Anthropic's error codes decide the error class before the status does", async (t) => {
  const rows: [status: number, type: string, details: object | undefined, expected: ErrorClass][] = [
    [429, 'rate_limit_error', { error_code: 'contract_spend_limit_reached' }, 'quota'],
    [429, 'rate_limit_error', { error_code: 'enforced_spend_limit_reached' }, 'quota'],
    [429, 'rate_limit_error', { error_code: 'ramp_limit_exceeded' }, 'rate_limited'],
    [400, 'billing_error', undefined, 'quota'],
    [400, 'invalid_request_error', { error_code: 'organization_on_hold' }, 'auth'],
    [403, 'permission_error', undefined, 'auth'],
    [404, 'not_found_error', undefined, 'unsupported'],
    [413, 'request_too_large', undefined, 'bad_request'],
    [504, 'timeout_error', undefined, 'timeout'],
    [500, 'overloaded_error', undefined, 'overloaded'],
  ]
  for (const [status, type, details, expected] of rows) {
    stub.play((response) => sendJson(response, errorBody(type, details), { status }))
    const error = await failureOf(ask, false)
    t.equal(error.errorClass, expected, `${status} ${type}`)
    t.notMatch(error.message, 'the vendor says no')
  }
})

t.test("Claude's stop reasons are converted to Parley's stop reasons", async (t) => {
  const rows: [reason: string | null, said: string, expected: LlmAnswer['stopReason'] | ErrorClass][] = [
    ['end_turn', 'Hi', 'stop'],
    ['stop_sequence', 'Hi', 'stop'],
    ['max_tokens', 'Hi', 'max_output_tokens'],
    ['max_tokens', '', 'max_output_tokens'],
    ['model_context_window_exceeded', 'Hi', 'max_output_tokens'],
    ['refusal', 'Hi', 'stop'],
    ['refusal', '', 'bad_request'],
    ['end_turn', '', 'empty'],
    ['tool_use', 'Hi', 'protocol'],
    ['pause_turn', 'Hi', 'protocol'],
    ['something_new', 'Hi', 'protocol'],
    [null, 'Hi', 'protocol'],
  ]
  for (const [reason, said, expected] of rows) {
    const title = `${reason} after ${said || 'nothing'}`
    stub.play((response, { body }) => {
      const { stream } = JSON.parse(body.toString()) as { stream?: boolean }
      if (stream) return stopped(response, reason, said)
      return sendJson(response, { content: [{ type: 'text', text: said }], stop_reason: reason, usage: {} })
    })
    for (const work of [llm.respond(ask, never), streamed(ask)]) {
      const outcome = await work.then(
        ({ stopReason }) => stopReason,
        (error: unknown) => (error instanceof ProviderError ? error.errorClass : error),
      )
      t.equal(outcome, expected, title)
    }
  }
})

t.test('chat settings are sent in the fields of the Messages API', async (t) => {
  const chatBody = (fields: object, model = ask.model) =>
    bodyOf(llmRequestOf({ model, body: { messages: [{ role: 'user', content: 'Hi' }], ...fields } }, llm))
  const tools = [{ type: 'function', function: { name: 'weather' } }]
  const full = { stop: ['END'], top_k: 40, user: 'u-1', tools, parallel_tool_calls: false, temperature: 0.5 }
  t.match(await chatBody(full), {
    stop_sequences: ['END'],
    top_k: 40,
    metadata: { user_id: 'u-1' },
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    temperature: 0.5,
  })
  const plain = ['model', 'max_tokens', 'messages']
  const beyond = { stop: [' '], seed: 1, frequency_penalty: 1, temperature: 1.5, user: 'u'.repeat(257) }
  t.same(Object.keys(await chatBody(beyond)), plain, 'what the vendor refuses is left out')
  const unsampled = await chatBody({ temperature: 0.5, top_p: 0.5, top_k: 4 }, 'claude-haiku-5-5')
  t.same(Object.keys(unsampled), plain, 'and what this model refuses')
})

t.test("a chat completion request is converted to a request of Anthropic's Messages API", async (t) => {
  stub.behave('ok')
  const body = { messages: [{ role: 'user', content: 'Hi' }], response_format: { type: 'text' } }
  const request = llmRequestOf({ model: 'claude-haiku-4-5', body }, llm)
  const { choices, usage: counted } = translatedAnswer(await llm.respond(request, never))
  t.match(choices, [{ message: { content: answerText }, finish_reason: 'stop' }])
  t.match(counted, { prompt_tokens: 65, completion_tokens: 12, prompt_tokens_details: { cached_tokens: 40 } })
})

t.test("the catalog entries of Claude models are complete, and organizations' provider keys are used", async (t) => {
  t.same(
    provider.models.map(({ id }) => id),
    anthropicModels.map(({ id }) => id),
  )
  const options = {
    id: 'a',
    baseUrl: stub.url,
    apiKey: null,
    limits: outboundDefaults,
    clock: systemClock,
    catalog,
    unavailable: 'no_credential',
  }
  const other = createAnthropicProvider({ ...options, models: ['claude-haiku-4-5'] })
  t.equal(other.unavailable(), 'no_credential')
  t.same(
    other.models.map(({ provider, id }) => [provider, id]),
    [['a', 'claude-haiku-4-5']],
  )
  stub.behave('ok')
  await (await other.forKey?.('another-key'))?.llm?.respond(ask, never)
  t.equal(stub.seen[0]?.headers['x-api-key'], 'another-key')
  await other.close()
  t.throws(() => createAnthropicProvider({ ...options, models: ['gpt'] }), RangeError)
})

async function bodyOf(request: LlmRequest): Promise<object> {
  stub.play((response) => sendJson(response, { content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn' }))
  await llm.respond(request, never)
  return JSON.parse(String(stub.seen[0]?.body)) as object
}

async function failureOf(request: LlmRequest, playing = true): Promise<ProviderError> {
  if (playing) stub.behave('ok')
  const error: unknown = await llm.respond(request, never).catch((error: unknown) => error)
  if (error instanceof ProviderError) return error
  throw new Error('it did not fail as a provider does', { cause: error })
}

async function streamed(request: LlmRequest): Promise<Extract<LlmEvent, { type: 'end' }>> {
  for await (const event of llm.stream(request, never)) if (event.type === 'end') return event
  throw new Error('no end')
}

async function stopped(response: Parameters<typeof sendEvent>[0], reason: string | null, said: string): Promise<void> {
  await sendEvent(response, { type: 'message_start', message: { usage: {} } })
  await sendEvent(response, { type: 'content_block_start', index: 0, content_block: { type: 'text', text: said } })
  await sendEvent(response, { type: 'message_delta', delta: { stop_reason: reason }, usage: {} })
  await sendEvent(response, { type: 'message_stop' })
  response.end()
}
