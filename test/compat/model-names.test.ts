/**
 * A client names a model in several ways: vendors' names on a server without their keys, unlisted names, aliases,
 * misspelt names.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import WebSocket from 'ws'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { type Answer, form, postJson, send, type Target } from '../router/requests.ts'
import { ownServer, serverWith } from '../server.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const first = await serverWith()
const served = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([
    { id: 'stub', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models: { llm: ['chat'], stt: ['ears'] } },
    { id: 'bare', adapter: 'openai', apiKey: 'env:BARE_KEY', baseUrl: `${stub.url}/v1`, models: { llm: ['chat'] } },
  ]),
  // On a busy machine the models load slowly, so the time limit is long.
  PARLEY_REALTIME_OPEN_MS: '60000',
  PARLEY_ALIASES: JSON.stringify({ 'gpt-4o-mini': 'auto', 'house-model': 'stub:chat', 'whisper-1': 'auto' }),
})

const prompt = readFileSync(path.resolve(import.meta.dirname, '../fixtures/speech/please-try-call-later.wav'))

function chat(target: Target, model: string): Promise<Answer> {
  return postJson(target, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'echo: hello' }] })
}

function speak(target: Target, model: string): Promise<Answer> {
  const request = { model, input: 'Hello.', voice: 'alloy', response_format: 'pcm' }
  return postJson(target, '/v1/audio/speech', request)
}

function transcribe(target: Target, model: string): Promise<Answer> {
  const { body, type } = form([
    { name: 'model', type: 'text/plain', data: model },
    { name: 'file', filename: 'a.wav', type: 'audio/wav', data: prompt },
  ])
  const init = { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': type } }
  return send(target, '/v1/audio/transcriptions', init)
}

function retrieve(target: Target, model: string): Promise<Answer> {
  return send(target, `/v1/models/${encodeURIComponent(model)}`)
}

t.test('a model whose vendor has no API key is refused at once, and the error names the variable to set', async (t) => {
  const asked: [string, string, (target: Target, model: string) => Promise<Answer>][] = [
    ...['gpt-4o-mini', 'gpt-4o', 'gpt-5', 'o3', 'openai:gpt-4o-mini', 'openai/gpt-4o-mini', 'openai:any-name'].map(
      (name): (typeof asked)[number] => [name, 'OPENAI_API_KEY', chat],
    ),
    ['claude-sonnet-4-6', 'ANTHROPIC_API_KEY', chat],
    ['claude-3-5-haiku-latest', 'ANTHROPIC_API_KEY', chat],
    ['gemini-2.5-flash', 'GEMINI_API_KEY', chat],
    ['mistral-small-latest', 'MISTRAL_API_KEY', chat],
    ['whisper-1', 'OPENAI_API_KEY', transcribe],
    ['gpt-4o-transcribe', 'OPENAI_API_KEY', transcribe],
    ['nova-3', 'DEEPGRAM_API_KEY', transcribe],
    ['scribe_v1', 'ELEVENLABS_API_KEY', transcribe],
    ['tts-1', 'OPENAI_API_KEY', speak],
    ['tts-1-hd', 'OPENAI_API_KEY', speak],
    ['gpt-4o-mini-tts', 'OPENAI_API_KEY', speak],
    ['eleven_flash_v2_5', 'ELEVENLABS_API_KEY', speak],
    ['sonic-3', 'CARTESIA_API_KEY', speak],
  ]
  for (const [model, variable, ask] of asked) {
    const answer = await ask(first, model)
    t.equal(answer.status, 404, `${model}: ${answer.text}`)
    t.equal(answer.headers.get('x-should-retry'), 'false')
    t.equal(answer.headers.get('retry-after'), null)
    const { error } = answer.json()
    t.match(error, { code: 'not_found', retryable: false, param: '/model', message: variable, hint: variable })
    t.match(error.message, model.replace(/^openai./, ''))
    t.match(error.message, /Served now: auto, local:/)
  }
})

t.test('createResponse refuses a pinned model of a vendor without a key, and names the missing variable', async (t) => {
  const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello.' }] }]
  const routing = { mode: 'explicit', provider: 'openai', model: 'gpt-4o-mini' }
  const answer = await postJson(first, '/router/v1/llm/responses', { routing, input, max_output_tokens: 10 })
  t.equal(answer.status, 400, answer.text)
  t.equal(answer.headers.get('x-should-retry'), 'false')
  t.match(answer.json().error, { code: 'capability_unsupported', param: '/routing/model', message: 'OPENAI_API_KEY' })
})

t.test('a misspelt model name is answered with similar names', async (t) => {
  const misspelt = [
    [await chat(first, 'moonshot-1'), /serves a model of this name\. Send/],
    [await chat(first, 'scripte'), /Did you mean scripted\?/],
    [await chat(first, 'local:script'), /Did you mean local:scripted\?/],
    [await chat(first, 'llama-3.3'), /serves a model of this name/],
    [await transcribe(first, 'moonshine-tiny'), /Did you mean moonshine-tiny-en\?/],
    [await speak(first, 'nova-3'), /of kind stt, not tts/],
    [await chat(first, 'openai:whisper-1'), /of kind stt, not llm/],
  ] as const
  for (const [answer, words] of misspelt) {
    t.equal(answer.status, 400, answer.text)
    t.match(answer.json().error, { code: 'invalid_parameter', param: '/model', message: words })
  }
})

t.test('a model name <provider>:<anything> is sent to the provider, without a rank and a price', async (t) => {
  for (const spelling of ['stub:brand-new:7b', 'stub/brand-new:7b']) {
    const answer = await chat(served, spelling)
    t.equal(answer.status, 200, answer.text)
    t.equal(answer.json<{ model: string }>().model, 'stub:brand-new:7b')
    t.match(stub.requests.at(-1)?.json, { model: 'brand-new:7b' })
  }
  t.equal((await transcribe(served, 'stub:other-ears')).headers.get('service-model'), 'other-ears')
  t.match((await speak(served, 'stub:no-voice')).json().error, { code: 'invalid_parameter' }, 'it has no speech')
  t.match((await chat(served, 'local:other')).json().error, { code: 'invalid_parameter' }, 'its adapter has a list')
  const sentence = await chat(served, 'stub:Call me back at noon')
  t.match([sentence.status, sentence.json().error.code], [400, 'invalid_parameter'], 'a sentence is no model id')
  t.notMatch(sentence.text, /noon/)
  const missing = (await chat(served, 'bare:brand-new')).json().error
  t.match(missing, {
    code: 'not_found',
    message: /bare:brand-new .* set BARE_KEY\. Served now: auto, stub:chat, local:scripted/,
  })
  stub.behave({ kind: 'status', status: 404 })
  const nowhere = await chat(served, 'stub:nowhere')
  t.match([nowhere.status, nowhere.json().error.code], [404, 'not_found'], 'the provider does not have it either')
  stub.behave({ kind: 'ok' })
  const routing = { mode: 'explicit', provider: 'stub', model: 'brand-new' }
  const input = [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hello.' }] }]
  const router = await postJson(served, '/router/v1/llm/responses', { routing, input, max_output_tokens: 10 })
  t.match(router.json(), { route: { provider: 'stub', model: 'brand-new' } }, router.text)
  t.equal(router.json<{ usage: { cost_micro_usd: unknown } }>().usage.cost_micro_usd, null, 'an unknown price')
  const { data } = (await send(served, '/v1/models?all=1')).json<{ data: { model: string }[] }>()
  t.notOk(data.some(({ model }) => model.startsWith('brand-new')))
})

t.test('a configured alias can be used as a model name', async (t) => {
  t.match((await chat(served, 'gpt-4o-mini')).json(), { model: 'stub:chat' })
  t.match((await chat(served, 'house-model')).json(), { model: 'stub:chat' })
  const transcript = await transcribe(served, 'whisper-1')
  t.equal(transcript.status, 200, transcript.text)
  t.match((await speak(served, 'house-model')).json().error, { code: 'invalid_parameter' }, 'of another stage')
  t.match((await chat(served, 'gpt-4o')).json().error, { message: 'OPENAI_API_KEY' })
})

t.test('a configured alias can be used as a model name in the realtime API', async (t) => {
  const socket = new WebSocket(`${served.url.replace('http', 'ws')}/v1/transcribe/stream`, ['service.realtime.v1'], {
    headers: { authorization: `Bearer ${served.key}` },
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'config', model: 'whisper-1', encoding: 'pcm_s16le', sampleRate: 16_000 }))
  const [ready] = await new Promise<[Buffer]>((resolve) => socket.once('message', (data: Buffer) => resolve([data])))
  t.match(JSON.parse(ready.toString()), { type: 'ready', provider: 'local' })
  socket.terminate()
})

t.test('listCompatModels lists routable models, and with all=1 also the other models', async (t) => {
  type List = { data: { id: string; routable: boolean; reason?: string; credential_variable?: string }[] }
  const { data } = (await send(first, '/v1/models')).json<List>()
  t.same(
    data.map(({ id, routable }) => [id, routable]),
    [
      ['local:moonshine-tiny-en', true],
      ['local:scripted', true],
      ['local:hibari', true],
      ['local:flite', true],
      ['local:pico', true],
    ],
  )
  const all = (await send(first, '/v1/models?all=1')).json<List>().data
  t.same(
    all.slice(0, data.length).map(({ id }) => id),
    data.map(({ id }) => id),
    'what can be routed to is first',
  )
  t.notOk(all.slice(data.length).some(({ routable }) => routable))
  const missing = { routable: false, reason: 'no_credential', credential_variable: 'OPENAI_API_KEY' }
  t.match(
    all.find(({ id }) => id === 'openai:gpt-4o-mini'),
    missing,
  )
  t.equal((await send(first, '/v1/models?all=2')).status, 400)
  const named = (await send(served, '/v1/models')).json<{ data: { id: string; aliases: string[] }[] }>().data
  t.match(named.find(({ id }) => id === 'stub:chat')?.aliases, ['stub/chat', 'house-model'])
})

t.test('getCompatModel finds a model by each spelling of its name', async (t) => {
  for (const name of ['local:flite', 'local/flite', 'flite'])
    t.match((await retrieve(first, name)).json(), { id: 'local:flite' })
  t.match((await retrieve(first, 'auto')).json(), { id: 'local:scripted', routable: true })
  t.match((await retrieve(served, 'gpt-4o-mini')).json(), { id: 'stub:chat' }, 'an alias')
  t.match((await retrieve(served, 'stub:brand-new')).json(), { id: 'stub:brand-new', quality: null, price: [] })
  const missing = await retrieve(first, 'gpt-4o-mini')
  t.equal(missing.status, 404)
  t.same(missing.json().error.message, (await chat(first, 'gpt-4o-mini')).json().error.message, 'the same words')
  const unknown = await retrieve(first, 'flit')
  t.equal(unknown.status, 404)
  t.match(unknown.json().error, { code: 'not_found', message: /Did you mean flite\?/ })
})
