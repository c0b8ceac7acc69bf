import t from 'tap'
import { wavHeader } from '../../../audio/wav.ts'
import type { Llm, LlmRequest } from '../../../domain/ports/llm.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Tts, TtsRequest } from '../../../domain/ports/tts.ts'
import { llmRequestOf } from '../../../handlers/compat/openai/chat-request.ts'
import { translatedAnswer } from '../../../handlers/compat/openai/chat-translation.ts'
import { geminiModels } from '../../../providers/gemini/models.ts'
import { createGeminiProvider } from '../../../providers/gemini/provider.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { present, providerErrorOf, vendorOptions } from '../suite/given.ts'
import { answerText, llmSuite, weather } from '../suite/llm.ts'
import { sendEvent, sendJson } from '../suite/stub-server.ts'
import { readSpeech, speechFormat, speechPcm, ttsSuite } from '../suite/tts.ts'
import { audioPart, errorBody, errorInfo, piece, startGeminiStub } from './stub.ts'

const apiKey = 'AIza-stub-0123456789'
const stub = await startGeminiStub()
const adapter = (baseUrl: string, limits: OutboundLimits) =>
  createGeminiProvider(vendorOptions('gemini', apiKey, baseUrl, limits))
const provider = adapter(stub.url, outboundDefaults)
const llm: Llm = present(provider.ports.llm, 'llm')
const tts: Tts = present(provider.ports.speech?.tts, 'tts')
t.teardown(async () => {
  await provider.close()
  await stub.close()
})

const never = new AbortController().signal
const usage = { inputTokens: 25, cachedInputTokens: 40, outputTokens: 9, reasoningTokens: 3 }
const keeps = { sockets: 1, because: 'the pool opens another connection for one that a call was cut off from' }
const given = { provider: adapter, stub, apiKey, keeps }
const ask: LlmRequest = {
  model: 'gemini-3.8-flash',
  items: [{ type: 'message', role: 'user', text: 'Hello' }],
  maxOutputTokens: 64,
  tools: [],
}
const say: TtsRequest = { model: 'gemini-3.8-flash-tts', text: 'Hello', outputFormat: speechFormat }

t.test('Gemini passes the shared adapter tests for LLMs', (t) =>
  llmSuite(t, { ...given, model: ask.model, usage, answeredBy: 'stub' }),
)
t.test('Gemini passes the shared adapter tests for speech', (t) => ttsSuite(t, { ...given, model: say.model }))

t.test('a conversation is sent in the fields of the Gemini API', async (t) => {
  const items: LlmRequest['items'] = [
    { type: 'message', role: 'system', text: 'Be brief.' },
    { type: 'message', role: 'user', text: 'Oslo or Bergen?' },
    { type: 'message', role: 'assistant', text: 'One moment.' },
    { type: 'function_call', callId: 'a', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', callId: 'b', name: 'weather', arguments: '' },
    { type: 'function_result', callId: 'a', result: 'rain' },
    { type: 'function_result', callId: 'b', result: 'snow' },
  ]
  const asked = { ...ask, items, tools: [weather], toolChoice: { name: 'weather' }, temperature: 0.5, topP: 0.9 }
  const signed = { functionCall: { id: 'a', name: 'weather', args: { city: 'Oslo' } } }
  const contents = (first: object) => [
    { role: 'user', parts: [{ text: 'Oslo or Bergen?' }] },
    {
      role: 'model',
      parts: [{ text: 'One moment.' }, first, { functionCall: { id: 'b', name: 'weather', args: {} } }],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'weather', response: { output: 'rain' } } },
        { functionResponse: { id: 'b', name: 'weather', response: { output: 'snow' } } },
      ],
    },
  ]
  t.same(await bodyOf(asked), {
    contents: contents({ ...signed, thoughtSignature: 'skip_thought_signature_validator' }),
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 64, temperature: 0.5, topP: 0.9 },
    tools: [
      {
        functionDeclarations: [
          { name: 'weather', description: weather.description, parametersJsonSchema: weather.parameters },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
  })
  t.equal(stub.seen[0]?.path, '/v1beta/models/gemini-3.8-flash:generateContent')
  t.equal(stub.seen[0]?.headers['x-goog-api-key'], apiKey)
  t.match(await bodyOf({ ...asked, model: 'gemini-2.5-flash' }), { contents: contents(signed) })
  t.notMatch(String(stub.seen[0]?.body), 'thoughtSignature', 'older models ask for no signature')
  t.match(await bodyOf({ ...ask, tools: [weather], toolChoice: 'required' }), mode('ANY'))
  t.match(await bodyOf({ ...ask, tools: [weather], toolChoice: 'none' }), mode('NONE'))
})

const mode = (mode: string) => ({ toolConfig: { functionCallingConfig: { mode } } })

t.test('each Gemini model gets its thinking level and its form of output schema', async (t) => {
  const rows: [model: string, reasoningEffort: string, thinkingConfig: object | null][] = [
    ['gemini-3.8-flash', 'high', { thinkingLevel: 'HIGH' }],
    ['gemini-3.8-flash', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-3.8-flash', 'none', null],
    ['gemini-3-flash-preview', 'minimal', { thinkingLevel: 'MINIMAL' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'medium', { thinkingBudget: 8192 }],
    ['gemini-2.5-flash', 'xhigh', null],
  ]
  for (const [model, reasoningEffort, thinkingConfig] of rows) {
    const title = `${model} ${reasoningEffort}`
    const request = { ...ask, model, reasoningEffort }
    if (thinkingConfig) t.match(await bodyOf(request), { generationConfig: { thinkingConfig } }, title)
    else t.match(await providerErrorOf(llm.respond(request, never)), { errorClass: 'unsupported', sent: false }, title)
  }
  const schema = { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false }
  t.match(await bodyOf({ ...ask, responseFormat: { name: 'x', schema } }), {
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  })
})

t.test('a conversation that Gemini cannot represent is refused before it is sent', async (t) => {
  const result = { type: 'function_result', callId: 'a', result: 'rain' } as const
  t.match(await providerErrorOf(llm.respond({ ...ask, items: [result] }, never)), {
    errorClass: 'bad_request',
    sent: false,
  })
})

t.test("Gemini's error codes decide the error class before the status does", async (t) => {
  const rows: [status: number, code: string, details: object[], expected: string][] = [
    [403, 'PERMISSION_DENIED', [], 'auth'],
    [403, 'PERMISSION_DENIED', [errorInfo('BILLING_DISABLED')], 'quota'],
    [400, 'FAILED_PRECONDITION', [], 'quota'],
    [404, 'NOT_FOUND', [], 'unsupported'],
    [504, 'DEADLINE_EXCEEDED', [], 'timeout'],
    [499, 'CANCELLED', [], 'bad_request'],
    [500, 'UNAVAILABLE', [], 'overloaded'],
  ]
  for (const [status, code, details, expected] of rows) {
    stub.play((response) => sendJson(response, errorBody(status, code, details), { status }))
    const error = await providerErrorOf(llm.respond(ask, never))
    t.equal(error.errorClass, expected, code)
    t.notMatch(error.message, 'the vendor says no')
  }
})

const finishes: [reason: string | undefined, said: boolean, text: string, speech: string][] = [
  ['STOP', true, 'stop', 'spoken'],
  ['STOP', false, 'empty', 'empty'],
  ['MAX_TOKENS', true, 'max_output_tokens', 'protocol'],
  ['MAX_TOKENS', false, 'max_output_tokens', 'protocol'],
  ['SAFETY', true, 'stop', 'bad_request'],
  ['SAFETY', false, 'bad_request', 'bad_request'],
  ['PROHIBITED_CONTENT', false, 'bad_request', 'bad_request'],
  ['RECITATION', false, 'bad_request', 'bad_request'],
  ['LANGUAGE', false, 'unsupported', 'unsupported'],
  ['OTHER', true, 'server', 'server'],
  ['MALFORMED_FUNCTION_CALL', false, 'protocol', 'protocol'],
  ['SOMETHING_NEW', true, 'protocol', 'protocol'],
  [undefined, true, 'protocol', 'protocol'],
]

t.test("Gemini's finish reasons are converted to Parley's stop reasons", async (t) => {
  for (const [reason, said, text, speech] of finishes) {
    const title = `${reason} after ${said ? 'something' : 'nothing'}`
    stub.play(async (response, { path, body }) => {
      const part = body.includes('AUDIO') ? audioPart(speechPcm) : { text: 'Hi' }
      const answer = piece(said ? [part] : [], reason)
      if (!path.includes('stream')) return sendJson(response, answer)
      await sendEvent(response, answer)
      response.end()
    })
    t.equal(await outcomeOf(llm.respond(ask, never).then(({ stopReason }) => stopReason)), text, title)
    t.equal(await outcomeOf(lastStop()), text, `${title}, streamed`)
    t.equal(await outcomeOf(readSpeech(tts.synthesize(say, never)).then(() => 'spoken')), speech, `${title}, spoken`)
  }
  stub.play((response, { path }) => {
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } }
    if (path.includes('stream')) return sendEvent(response, blocked)
    return sendJson(response, blocked)
  })
  for (const work of [llm.respond(ask, never), lastStop(), tts.synthesize(say, never)])
    t.equal((await providerErrorOf(work)).errorClass, 'bad_request', 'a blocked prompt')
})

t.test('a request for speech is sent in the speech fields of Gemini', async (t) => {
  stub.behave('ok')
  await readSpeech(tts.synthesize({ ...say, voice: 'Puck', language: 'de', instructions: 'calm' }, never))
  t.equal(stub.seen[0]?.path, '/v1beta/models/gemini-3.8-flash-tts:streamGenerateContent?alt=sse')
  t.same(JSON.parse(String(stub.seen[0]?.body)), {
    contents: [{ role: 'user', parts: [{ text: 'Hello', speechMetadata: { style: 'calm' } }] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Puck' } }, languageCode: 'de' },
    },
  })
  await readSpeech(tts.synthesize(say, never))
  t.match(String(stub.seen[1]?.body), '"voiceName":"Kore"')
})

t.test('the format of Gemini speech is read from the answer', async (t) => {
  const at16 = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
  const wav = Buffer.concat([wavHeader(at16, speechPcm.length), speechPcm])
  const rows: [title: string, bytes: Buffer[], mimeType: string, sampleRateHz: number][] = [
    ['a rate', [speechPcm], 'audio/L16; rate=16000', 16_000],
    ['no rate', [speechPcm], 'audio/pcm', 24_000],
    ['a header in one chunk', [wav], 'audio/wav', 16_000],
    [
      'a header byte by byte',
      [...wav.subarray(0, 50)].map((byte) => Buffer.of(byte)).concat(wav.subarray(50)),
      'audio/L16;rate=24000',
      16_000,
    ],
  ]
  for (const [title, bytes, mimeType, sampleRateHz] of rows) {
    speaks(bytes, mimeType)
    const { format, items } = await readSpeech(tts.synthesize(say, never))
    t.same(format, { ...speechFormat, sampleRateHz }, title)
    t.ok(Buffer.concat(items).equals(speechPcm), `${title}: the samples`)
  }
  const minute = Buffer.alloc(60 * 48_000, 1)
  speaks([minute], 'audio/L16;rate=24000')
  t.ok(Buffer.concat((await readSpeech(tts.synthesize(say, never))).items).equals(minute), 'a minute in one event')
  for (const mimeType of ['audio/mpeg', 'audio/L16;rate=1', 'text/plain']) {
    speaks([speechPcm], mimeType)
    t.equal(await outcomeOf(tts.synthesize(say, never)), 'protocol', mimeType)
  }
})

t.test('chat settings are sent in the fields of the Gemini API', async (t) => {
  const chatBody = (fields: object) =>
    bodyOf(llmRequestOf({ model: ask.model, body: { messages: [{ role: 'user', content: 'Hi' }], ...fields } }, llm))
  const full = { stop: 'END', top_k: 40, seed: 7, frequency_penalty: 0.5, presence_penalty: -1, user: 'u' }
  t.match(await chatBody(full), {
    generationConfig: { stopSequences: ['END'], topK: 40, seed: 7, frequencyPenalty: 0.5, presencePenalty: -1 },
  })
  t.notOk(JSON.stringify(await chatBody(full)).includes('"u"'), 'the vendor has no name of a user')
  const beyond = await chatBody({ seed: 2 ** 40, stop: ['a', 'b', 'c', 'd', 'e', 'f'] })
  t.same(Object.keys((beyond as { generationConfig: object }).generationConfig), ['maxOutputTokens'])
})

t.test('a chat completion request is converted to a request of the Gemini API', async (t) => {
  stub.behave('ok')
  const body = { messages: [{ role: 'user', content: 'Hi' }], response_format: { type: 'json_object' } }
  const { choices, usage: counted } = translatedAnswer(
    await llm.respond(llmRequestOf({ model: ask.model, body }, llm), never),
  )
  t.match(choices, [{ message: { content: answerText }, finish_reason: 'stop' }])
  t.match(counted, {
    prompt_tokens: 65,
    completion_tokens: 12,
    completion_tokens_details: { reasoning_tokens: 3 },
  })
  t.match(JSON.parse(String(stub.seen[0]?.body)), { generationConfig: { responseJsonSchema: { type: 'object' } } })
})

t.test("the catalog entries of Gemini models are complete, and organizations' provider keys are used", async (t) => {
  t.same(
    provider.models.map(({ id, stage }) => [id, stage]),
    geminiModels.map(({ id, stage }) => [id, stage]),
  )
  const voices = geminiModels.find(({ stage }) => stage === 'tts')?.voices ?? []
  t.equal(new Set(voices.map(({ id }) => id)).size, 30)
  stub.behave('ok')
  await (await provider.forKey?.('another-key'))?.llm?.respond(ask, never)
  t.equal(stub.seen[0]?.headers['x-goog-api-key'], 'another-key')
  t.notMatch(stub.seen[0]?.path, 'another-key', 'a key is never in a URL')
})

async function bodyOf(request: LlmRequest): Promise<object> {
  stub.behave('ok')
  await llm.respond(request, never)
  return JSON.parse(String(stub.seen[0]?.body)) as object
}

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof ProviderError ? error.errorClass : error))

async function lastStop(): Promise<string> {
  for await (const event of llm.stream(ask, never)) if (event.type === 'end') return event.stopReason
  throw new Error('no end')
}

function speaks(chunks: Buffer[], mimeType: string): void {
  stub.play(async (response) => {
    for (const bytes of chunks) await sendEvent(response, piece([audioPart(bytes, mimeType)]))
    await sendEvent(response, piece([], 'STOP'))
    response.end()
  })
}
