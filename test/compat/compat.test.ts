/**
 * Every operation of the OpenAI-compatible API over HTTP, with a provider whose own protocol is OpenAI's (the stub) and
 * with embedded speech engines.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { judgedFetch } from '../oracle.ts'
import { startStubOpenAi, stubSpeech, stubText, stubUsage, transcriptOf } from '../providers/stub-openai.ts'
import { type Answer, form, send } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { events, frames } from './answers.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    {
      id: 'stub',
      adapter: 'openai',
      apiKey: 'k',
      baseUrl: `${stub.url}/v1`,
      models: { llm: ['chat'], stt: ['whisper'], tts: ['speaker', 'tts-1'] },
    },
  ]),
})

const prompt = readFileSync(path.resolve(import.meta.dirname, '../fixtures/speech/please-try-call-later.wav'))
const messages = [{ role: 'user', content: 'echo: three small words' }]
const sent = () => stub.requests.at(-1)?.json ?? {}

function post(where: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const usual = { 'content-type': 'application/json', ...headers }
  return send(parley, where, { method: 'POST', body: JSON.stringify(body), headers: usual })
}

function upload(fields: Record<string, string>, file: Uint8Array = prompt): Promise<Answer> {
  const parts = Object.entries(fields).map(([name, data]) => ({ name, type: 'text/plain', data }))
  const { body, type } = form([
    ...parts,
    { name: 'file', filename: 'a.wav', type: 'application/octet-stream', data: file },
  ])
  return send(parley, '/v1/audio/transcriptions', {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': type },
  })
}

async function bytesOf(
  where: string,
  body: unknown,
): Promise<{ type: string | null; bytes: Buffer; headers: Headers }> {
  const answer = await judgedFetch(parley.url + where, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${parley.key}`, 'content-type': 'application/json' },
  })
  t.equal(answer.status, 200, where)
  return {
    type: answer.headers.get('content-type'),
    bytes: Buffer.from(await answer.arrayBuffer()),
    headers: answer.headers,
  }
}

t.test('createChatCompletion returns the completion of the named model', async (t) => {
  const extra = { temperature: 0.2, vendor_field: { a: [1] } }
  for (const spelling of ['max_tokens', 'max_token', 'max_completion_tokens']) {
    const answer = await post('/v1/chat/completions', { model: 'stub:chat', messages, [spelling]: 20, ...extra })
    t.equal(answer.status, 200, answer.text)
    t.same(sent(), { messages, ...extra, model: 'chat', max_tokens: 20 }, spelling)
    t.match(answer.json(), {
      id: /^chatcmpl-req_/,
      object: 'chat.completion',
      model: 'stub:chat',
      choices: [{ index: 0, message: { role: 'assistant', content: stubText } }],
      usage: stubUsage,
    })
    t.equal(answer.headers.get('x-route'), 'stub/chat')
    t.equal(answer.json<{ id: string }>().id, `chatcmpl-${answer.headers.get('service-request-id')}`)
  }
  for (const name of ['chat', 'stub/chat', 'stub:chat'])
    t.match((await post('/v1/chat/completions', { model: name, messages })).json(), { model: 'stub:chat' }, name)
  const unknown = await post('/v1/chat/completions', { model: 'nobody:nothing', messages })
  t.match(unknown.json(), { error: { code: 'invalid_parameter', param: '/model', hint: /auto.*<provider>:<model>/ } })
  const other = await post('/v1/chat/completions', { model: 'stub:whisper', messages })
  t.match(other.json(), { error: { code: 'invalid_parameter', message: /kind stt/ } })
})

t.test('createChatCompletion can stream, and reports a broken stream as an error event', async (t) => {
  const plain = frames((await post('/v1/chat/completions', { model: 'stub:chat', messages, stream: true })).text)
  t.equal(plain.at(-1), '[DONE]')
  t.notOk(JSON.stringify(plain).includes('usage'))
  t.match(plain[0], { id: /^chatcmpl-req_/, object: 'chat.completion.chunk', model: 'stub:chat' })

  const asked = { model: 'stub:chat', messages, stream: true, stream_options: { include_usage: true } }
  t.match(frames((await post('/v1/chat/completions', asked)).text).at(-2), { choices: [], usage: stubUsage })

  stub.behave({ kind: 'cut' })
  const cut = frames((await post('/v1/chat/completions', { ...asked })).text)
  t.match(cut.at(-1), { error: { code: 'provider_error', type: 'provider_error' } })
  t.notOk(cut.includes('[DONE]'))

  stub.behave({ kind: 'status', status: 500 })
  const before = stub.requests.length
  const failed = await post('/v1/chat/completions', { model: 'stub:chat', messages, stream: true })
  t.equal(failed.status, 502)
  t.equal(stub.requests.length, before + 1, 'one attempt')
})

t.test('createChatCompletion works with a provider without the chat protocol', async (t) => {
  const scripted = 'local:scripted'
  const answer = await post('/v1/chat/completions', { model: scripted, messages, max_tokens: 50 })
  t.equal(answer.status, 200, answer.text)
  t.match(answer.json(), { choices: [{ message: { content: 'three small words' }, finish_reason: 'stop' }] })
  const streamed = frames((await post('/v1/chat/completions', { model: scripted, messages, stream: true })).text)
  t.equal(streamed.at(-1), '[DONE]')
  t.equal(answer.headers.get('x-service-ignored'), null)
  const settings = { stop: ' words', n: 2, user: 'u', frequency_penalty: 0, logit_bias: { 1: 1 } }
  for (const stream of [false, true]) {
    const stopped = await post('/v1/chat/completions', { model: scripted, messages, ...settings, stream })
    t.equal(stopped.headers.get('x-service-ignored'), 'n, user, logit_bias', `stream ${stream}`)
    t.notMatch(stopped.text, /words/, 'stop counts')
  }
  const odd = { ...settings, __defineGetter__: 1, valueOf: 1, constructor: 1 }
  for (let i = 0; i < 4; i++) {
    const answer = await post('/v1/chat/completions', { model: scripted, messages, ...odd })
    t.equal(answer.headers.get('x-service-ignored'), 'n, user, logit_bias, __defineGetter__, valueOf, constructor')
  }
  const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }
  const refused = await post('/v1/chat/completions', { model: scripted, messages: [picture] })
  t.match(refused.json(), { error: { code: 'capability_unsupported', param: '/messages/0/content/0' } })
})

t.test('createCompatTranscription returns each response format', async (t) => {
  const text = transcriptOf(prompt)
  const json = await upload({ model: 'stub:whisper' })
  t.equal(json.status, 200, json.text)
  t.same(json.json(), { text })
  const plain = await upload({ model: 'whisper', response_format: 'text' })
  t.match(plain.headers.get('content-type'), 'text/plain')
  t.equal(plain.text, text)
  const fields = { model: 'stub:whisper', response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }
  t.match((await upload(fields)).json(), {
    task: 'transcribe',
    text,
    duration: Number,
    segments: [{ id: 0, start: 0, end: 1.25 }],
    words: [{ word: 'heard', start: 0, end: 0.4 }],
  })
  const streamed = frames((await upload({ model: 'stub:whisper', stream: 'true' })).text)
  t.match(streamed.at(-1), { type: 'transcript.text.done', text })
  t.equal(
    streamed
      .slice(0, -1)
      .map((frame) => (frame as { delta: string }).delta)
      .join(''),
    text,
  )
  const srt = await upload({ model: 'stub:whisper', response_format: 'srt' })
  t.match(srt.headers.get('content-type'), 'text/plain')
  t.equal(srt.text, `1\n00:00:00,000 --> 00:00:01,250\n${text}\n\n`)
  const vtt = await upload({ model: 'stub:whisper', response_format: 'vtt' })
  t.equal(vtt.text, `WEBVTT\n\n00:00:00.000 --> 00:00:01.250\n${text}\n\n`)
  const words = await upload({ ...fields, response_format: 'srt' })
  t.match(words.text, /^1\n00:00:00,000 --> 00:00:00,400\nheard\n\n2\n/)
  const local = await upload({ model: 'local:moonshine-tiny-en', response_format: 'srt' })
  t.match(local.text, /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nPlease try your call again later\.\n\n$/i)
  const ass = await upload({ model: 'auto', response_format: 'ass' })
  const listed = { param: 'response_format', message: /json, text, verbose_json, srt, vtt/ }
  t.match(ass.json(), { error: { code: 'invalid_parameter', ...listed } })
  const noise = await upload({ model: 'auto' }, Buffer.from('not audio'))
  t.equal(noise.status, 415)
  t.match(noise.json(), { error: { code: 'unsupported_media', param: 'file', message: /WAV, FLAC/ } })
})

t.test('createCompatSpeech returns PCM, WAV or events, and refuses other formats', async (t) => {
  const input = 'Please hold.'
  const pcm = await bytesOf('/v1/audio/speech', { model: 'stub:speaker', input, voice: 'alloy' })
  t.equal(pcm.type, 'audio/pcm;rate=24000')
  t.same(pcm.bytes, stubSpeech)
  t.equal(pcm.headers.get('service-usage-characters'), '12')
  const wav = await bytesOf('/v1/audio/speech', { model: 'stub:speaker', input, response_format: 'wav' })
  t.equal(wav.type, 'audio/wav')
  t.equal(wav.bytes.length, 44 + stubSpeech.length)
  t.equal(wav.bytes.readUInt32LE(4), 36 + stubSpeech.length)
  t.equal(wav.bytes.readUInt32LE(40), stubSpeech.length)
  const stream = await bytesOf('/v1/audio/speech/stream', { model: 'stub:speaker', input })
  t.same(stream.bytes, stubSpeech)

  const sse = frames((await post('/v1/audio/speech', { model: 'stub:speaker', input, stream_format: 'sse' })).text)
  t.match(sse.at(-1), { type: 'speech.audio.done', usage: { input_tokens: 12 } })
  const audio = sse.slice(0, -1).map((frame) => Buffer.from((frame as { audio: string }).audio, 'base64'))
  t.same(Buffer.concat(audio), stubSpeech)

  for (const format of ['mp3', 'opus', 'aac'])
    t.match((await post('/v1/audio/speech', { model: 'auto', input, response_format: format })).json(), {
      error: { code: 'invalid_parameter', param: '/response_format', hint: /response_format="wav"/ },
    })
  const inStream = await post('/v1/audio/speech/stream', { model: 'auto', input, response_format: 'wav' })
  t.match(inStream.json(), { error: { code: 'invalid_parameter', param: '/response_format' } })

  await bytesOf('/v1/audio/speech', { model: 'stub:speaker', input, speed: 1.5, instructions: 'Calmly.' })
  t.match(sent(), { speed: 1.5, instructions: 'Calmly.' })
  await bytesOf('/v1/audio/speech', { model: 'stub:tts-1', input, instructions: 'Calmly.' })
  t.notOk('instructions' in sent(), 'left out for a model that takes none')
  await bytesOf('/v1/audio/speech', { model: 'local:flite', input, voice: 'nova' })
  const nobody = await post('/v1/audio/speech', { model: 'auto', input, voice: 'voice-of-nobody' })
  t.match(nobody.json(), { error: { code: 'capability_unsupported' } })
})

t.test('listCompatModels lists models and languages without an API key', async (t) => {
  const answer = await judgedFetch(`${parley.url}/v1/models`)
  t.equal(answer.status, 200, 'no key')
  const { object, data, languages } = (await answer.json()) as {
    object: string
    data: { id: string }[]
    languages: string[]
  }
  t.equal(object, 'list')
  t.match(
    data.find(({ id }) => id === 'stub:chat'),
    { aliases: ['stub/chat', 'chat'], object: 'model', provider: 'stub', model: 'chat', stage: 'llm', routable: true },
  )
  t.match(
    data.find(({ id }) => id === 'local:flite'),
    { stage: 'tts', voices: [{ id: String }] },
  )
  t.ok(languages.includes('en'))
})

t.test('previewRouting shows the choice of a model without a provider request', async (t) => {
  const before = stub.requests.length
  const answer = await send(parley, '/v1/routing/preview?stage=llm&language=en-US&objective=latency')
  t.equal(stub.requests.length, before, 'no provider is asked')
  t.equal(answer.status, 200, answer.text)
  t.match(answer.json(), { stage: 'llm', language: 'en-US', objective: 'latency', candidate: 'stub:chat' })
  t.notOk('region' in answer.json<object>())
  const wished = await send(parley, '/v1/routing/preview?stage=llm&language=en-US&region=eu')
  t.match(wished.json(), { region: { asked: 'eu', had_effect: false } })
  t.equal((await send(parley, '/v1/routing/preview?stage=llm')).status, 400)
})

t.test('synthesize returns PCM or WAV, and reports ignored settings', async (t) => {
  const constraints = { allowedProviders: { tts: ['stub'] } }
  const pcm = await bytesOf('/v1/synthesize', { text: 'Hold.', constraints, sample_rate: 8000 })
  t.equal(pcm.type, 'audio/pcm;rate=8000')
  t.equal(pcm.headers.get('x-service-provider'), 'stub')
  t.equal(pcm.headers.get('x-service-failover-count'), '0')
  const cheerful = await bytesOf('/v1/synthesize', { text: 'Hold.', model: 'local:flite', instructions: 'Cheerful.' })
  t.equal(cheerful.headers.get('x-service-ignored'), 'instructions')
  const wav = await bytesOf('/v1/synthesize', { text: 'Hold.', constraints, response_format: 'wav' })
  t.equal(wav.bytes.subarray(0, 4).toString(), 'RIFF')
})

t.test('transcribe returns a transcript as JSON or as events, and refuses wrong headers', async (t) => {
  const intent = { language: 'en-US', optimizeFor: 'quality' }
  const headers = {
    'content-type': 'audio/wav',
    'x-service-intent': JSON.stringify(intent),
    'x-service-constraints': JSON.stringify({ allowedProviders: { stt: ['stub'] } }),
  }
  const init = { method: 'POST', body: new Uint8Array(prompt) }
  const answer = await send(parley, '/v1/transcribe', { ...init, headers })
  t.equal(answer.status, 200, answer.text)
  const requestId = answer.headers.get('service-request-id')
  t.match(answer.json(), {
    text: transcriptOf(prompt),
    provider: 'stub',
    model: 'whisper',
    failoverCount: 0,
    requestId,
  })
  t.equal(answer.headers.get('x-service-model'), 'whisper')
  const streamed = await send(parley, '/v1/transcribe', {
    ...init,
    headers: { ...headers, accept: 'text/event-stream' },
  })
  const got = events(streamed.text)
  t.same(
    got.map(({ event }) => event),
    ['meta', 'transcript', 'done'],
  )
  t.match(got.at(-1)?.data, { text: transcriptOf(prompt) })
  const broken = await send(parley, '/v1/transcribe', { ...init, headers: { ...headers, 'x-service-intent': '{"a"' } })
  t.match(broken.json(), { error: { code: 'invalid_parameter', param: 'x-service-intent' } })
  for (const [name, value, code, message] of [
    ['intent', '{"optimizeFor":"speed"}', 'invalid_parameter', /optimizeFor.* must be one of balanced, /],
    ['intent', '{"language":"a-b-c-d-e"}', 'invalid_parameter', /BCP 47/],
    ['constraints', '{"allowedProviders":{"stt":"stub"}}', 'invalid_parameter', /must be array/],
    ['constraints', '{"allowedProviders":{"stt":["nobody"]}}', 'capability_unsupported', /leave no stt model/],
    ['stt-options', '{"words":"yes"}', 'invalid_parameter', /words.* must be boolean/],
  ] as const) {
    const param = `x-service-${name}`
    const refused = await send(parley, '/v1/transcribe', { ...init, headers: { ...headers, [param]: value } })
    t.match(refused.json(), { error: { code, param, message } }, value)
  }
  const hints = { keywords: ['Parley'], prompt: 'A call.' }
  const here = {
    ...headers,
    'x-service-constraints': JSON.stringify({ allowedProviders: { stt: ['local'] } }),
    'x-service-stt-options': JSON.stringify(hints),
  }
  const hinted = await send(parley, '/v1/transcribe', { ...init, headers: here })
  t.equal(hinted.status, 200, hinted.text)
  t.equal(hinted.headers.get('x-service-ignored'), 'prompt, keywords', 'hints that the engine cannot take')
  const raw = { ...headers, 'content-type': 'audio/pcm;rate=16000' }
  const samples = { method: 'POST', body: new Uint8Array(prompt.subarray(44)), headers: raw }
  t.equal((await send(parley, '/v1/transcribe', samples)).status, 200)
})

t.test('complete returns a completion as JSON or as events', async (t) => {
  const body = { prompt: 'Hi', systemPrompt: 'Be brief.', model: 'stub:chat', maxTokens: 9 }
  const answer = await post('/v1/complete', body)
  t.equal(answer.status, 200, answer.text)
  t.match(answer.json(), {
    text: stubText,
    provider: 'stub',
    model: 'chat',
    usage: { promptTokens: 12, completionTokens: 9 },
    failoverCount: 0,
  })
  const asMessages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]
  t.same(sent(), { messages: asMessages, model: 'chat', max_tokens: 9 }, 'omitted fields are not sent')
  stub.behave({ kind: 'tool_call' })
  const tools = [{ type: 'function', function: { name: 'weather' } }]
  const streamed = events((await post('/v1/complete', { ...body, tools }, { accept: 'text/event-stream' })).text)
  t.same(
    streamed.map(({ event }) => event),
    ['meta', 'tool_call', 'tool_call', 'done'],
  )
  t.match(streamed[1]?.data, { id: 'call_a', name: 'weather', args: '{"city":"Oslo"}' })
  for (const accept of ['text/event-stream;q=0', '*/*', 'application/json, text/event-stream;q=0.5'])
    t.equal((await post('/v1/complete', body, { accept })).headers.get('content-type'), 'application/json', accept)
  stub.behave({ kind: 'cut' })
  const cut = events((await post('/v1/complete', body, { accept: 'text/event-stream' })).text)
  t.equal(cut.at(-1)?.event, 'error')
  t.match((await post('/v1/complete', { model: 'auto' })).json(), { error: { code: 'invalid_parameter' } })
})

t.test('error messages of the compatible API use the field names of that API', async (t) => {
  const chat = (body: object) => post('/v1/chat/completions', { model: 'auto', messages, ...body })
  const unknown = (await chat({ model: 'no-such-model' })).json().error
  t.match(unknown, { code: 'invalid_parameter', param: '/model', message: /No llm provider here.*Send "auto"/ })
  const constraints = { allowedProviders: { llm: ['nobody'] } }
  const emptied = (await post('/v1/complete', { prompt: 'Hi', constraints })).json().error
  t.match(emptied, { code: 'capability_unsupported', param: '/constraints/allowedProviders' })
  t.match((await chat({ stream: 'yes' })).json().error, {
    message: '/stream must be boolean or null',
    hint: /the contract at \/openapi\/compat\.json/,
  })
  const socket = await send(parley, '/v1/transcribe/stream')
  t.match(socket.json().error, { hint: /Open a WebSocket.*\/asyncapi\/realtime\.json/ })
})

t.test('the header X-Service-Language is read on every POST', async (t) => {
  const wrong = await post('/v1/chat/completions', { model: 'auto', messages }, { 'x-service-language': 'no language' })
  t.match(wrong.json(), { error: { code: 'invalid_parameter' } })
  const headers = { 'x-service-language': 'xx' }
  const unspoken = await post('/v1/audio/speech', { model: 'local:flite', input: 'Hold.' }, headers)
  t.match(unspoken.json(), { error: { code: 'capability_unsupported' } })
})

t.test('getCompatContract serves the contract', async (t) => {
  const answer = await judgedFetch(`${parley.url}/openapi/compat.json`)
  t.match(await answer.json(), { openapi: /^3\.1/, paths: { '/v1/chat/completions': {} } })
})
