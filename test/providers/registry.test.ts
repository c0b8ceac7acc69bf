import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import type { Recording } from '../../audio/format.ts'
import type { LlmRequest } from '../../domain/ports/llm.ts'
import { openCatalog } from '../../providers/catalog/rows.ts'
import { createLoopbackProvider } from '../../providers/loopback/provider.ts'
import { createProviders, type ProviderConfig, type RegistryDeps } from '../../providers/registry.ts'
import { outboundDefaults } from '../../runtime/outbound/limits.ts'
import type { Environment } from '../../runtime/process/config.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { collect, until } from './openai-setup.ts'
import { startStubOpenAi } from './stub-openai.ts'

const never = new AbortController().signal
const quiet: RegistryDeps = {
  limits: outboundDefaults,
  clock: systemClock,
  catalog: openCatalog(null),
  local: null,
  ollamaUrl: null,
}
const ask: LlmRequest = {
  model: 'chat',
  items: [{ type: 'message', role: 'user', text: 'Hello' }],
  maxOutputTokens: 64,
  tools: [],
}

async function create(configs: ProviderConfig[], env: Environment = {}, deps: Partial<RegistryDeps> = {}) {
  const providers = await createProviders(configs, env, { ...quiet, ...deps })
  t.teardown(() => Promise.all(providers.map((provider) => provider.close())))
  return providers
}

/** Returns the ids of providers with a usable key. */
const callable = (providers: Awaited<ReturnType<typeof create>>) =>
  providers.filter((provider) => provider.unavailable() === null).map(({ id }) => id)

t.test('a configured provider has its models, figures and credential', async (t) => {
  const stub = await startStubOpenAi()
  t.teardown(() => stub.close())
  const mock = { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'env:MOCK_KEY' }
  const models = { llm: ['chat', 'gpt-4o'], stt: ['hear', 'gpt-4o-transcribe'], tts: ['say'] }
  const [provider] = await create([{ ...mock, models }], { MOCK_KEY: 'secret\n' })
  t.equal(provider?.unavailable(), null)
  t.match(
    provider?.models.map(({ provider, stage, id }) => `${provider} ${stage} ${id}`),
    ['mock llm chat', 'mock llm gpt-4o', 'mock stt hear', 'mock stt gpt-4o-transcribe', 'mock tts say'],
  )
  const [chat, gpt4o, hear, transcribe, say] = provider?.models ?? []
  t.match(chat, { languages: ['*'], prices: [], benchmarks: [], lastResort: false })
  t.match(chat?.capabilities, { tools: true, structured_output: true, reasoning: true, streaming: true, batch: true })
  t.match(gpt4o?.capabilities, { reasoning: false })
  t.match(hear?.capabilities, {
    prompt: true,
    word_timestamps: true,
    batch: true,
    streaming: false,
    diarization: false,
  })
  t.match(transcribe?.capabilities, { word_timestamps: false })
  t.match(say, { capabilities: { instructions: true, speed: true }, nativeOutput: { sampleRateHz: 24_000 } })
  t.ok(say?.voices.some(({ id }) => id === 'alloy'))
  await provider?.ports.llm?.respond(ask, never)
  t.match(stub.requests.at(-1), { path: '/v1/chat/completions', headers: { authorization: 'Bearer secret' } })

  const [without] = await create([{ ...mock, models }])
  t.equal(without?.unavailable(), 'no_credential', 'the provider stays in the list')
  t.equal(without?.models.length, 5)
  const [open] = await create([{ id: 'mock', adapter: 'openai', baseUrl: mock.baseUrl, models }], {
    OPENAI_API_KEY: 'vendor',
  })
  t.equal(open?.unavailable(), null)
  await open?.ports.llm?.respond(ask, never)
  t.equal(stub.requests.at(-1)?.headers.authorization, undefined, "the vendor's key goes to the vendor only")
  const [literal] = await create([{ ...mock, apiKey: 'as-it-stands', models: { stt: ['hear'] } }])
  t.equal(literal?.unavailable(), null)
  t.equal(literal?.ports.llm, undefined, 'no model, no adapter')
})

t.test("the usual environment variable for a vendor's API key enables the vendor", async (t) => {
  const env = { OPENAI_API_KEY: 'a', GROQ_API_KEY: 'b', MISTRAL_API_KEY: '' }
  const found = await create([], env)
  t.same(callable(found), ['openai', 'groq'])
  const silent = found.find(({ id }) => id === 'deepgram')
  t.equal(silent?.unavailable(), 'no_credential', "a vendor without the operator's key")
  t.match((await silent?.forKey?.('own'))?.speech?.stt, { open: Function }, "is there for an organization's own")
  const whisper = found[0]?.models.find(({ id }) => id === 'whisper-1')
  t.match(whisper, { deprecationDate: '2027-02-26', prices: [{ unit: 'audio_hour', microUsd: 360_000 }] })
  const elsewhere = { id: 'mock', adapter: 'openai', baseUrl: 'http://127.0.0.1:1/v1', models: { llm: ['x'] } }
  t.same(callable(await create([elsewhere], env)), ['mock', 'openai', 'groq'])
  const own = [
    { id: 'openai', adapter: 'openai', models: { llm: ['gpt-4o'] } },
    { id: 'fast', adapter: 'groq' },
  ]
  const configured = await create(own, env)
  t.same(callable(configured), ['openai', 'fast'], 'configuration comes first')
  t.same(
    configured[0]?.models.map(({ id }) => id),
    ['gpt-4o'],
  )
  const [bare] = await create([{ id: 'openai', adapter: 'openai' }])
  t.equal(bare?.unavailable(), 'no_credential')
})

t.test("a vendor's key may be in a file, as containers receive secrets", async (t) => {
  const files = t.testdir({ key: 'sk-of-a-file\n', empty: '\n' })
  const file = path.join(files, 'key')
  const [openai] = await create([{ id: 'openai', adapter: 'openai' }], { OPENAI_API_KEY_FILE: file })
  t.equal(openai?.unavailable(), null)
  const named = { id: 'mine', adapter: 'openai', apiKey: 'env:MY_KEY' }
  const [mine] = await create([named], { MY_KEY_FILE: file })
  t.equal(mine?.unavailable(), null)
  const empty = path.join(files, 'empty')
  const refusals: [Environment, string][] = [
    [{ OPENAI_API_KEY_FILE: empty }, `OPENAI_API_KEY_FILE: ${empty} is empty`],
    [
      { OPENAI_API_KEY_FILE: file, OPENAI_API_KEY: 'sk-other' },
      'OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set: keep one of them',
    ],
    [{ OPENAI_API_KEY_FILE: `${file}-not` }, `OPENAI_API_KEY_FILE: ${file}-not cannot be read (ENOENT)`],
  ]
  for (const [env, message] of refusals)
    await t.rejects(createProviders([{ id: 'openai', adapter: 'openai' }], env, quiet), {
      name: 'ConfigError',
      message,
    })
})

t.test('each mistake in the configuration of providers is stated in the error', async (t) => {
  const mistakes: [ProviderConfig[], RegExp][] = [
    [[{ id: 'a', adapter: 'opnai' }], /a names the adapter opnai.*loopback.*openai.*groq/],
    [[{ id: 'a', adapter: 'toString' }], /toString/],
    [
      [
        { id: 'a', adapter: 'loopback' },
        { id: 'a', adapter: 'loopback' },
      ],
      /id a is used twice/,
    ],
    [[{ id: 'a', adapter: 'vllm' }], /a needs a baseUrl/],
    [[{ id: 'a', adapter: 'openai', baseUrl: 'localhost:80' }], /baseUrl of a/],
    [[{ id: 'a', adapter: 'openai', baseUrl: 'http://127.0.0.1/v1' }], /a names no models/],
    [[{ id: 'local', adapter: 'local' }], /local.enabled/],
    [[{ id: 'mine', adapter: 'local' }], /id local, not mine/],
  ]
  for (const [configs, message] of mistakes) {
    await t.rejects(createProviders(configs, {}, quiet), { name: 'ConfigError', message })
  }
})

t.test('models that the catalog does not list can be configured for each vendor', async (t) => {
  const cases = [
    ['anthropic', { llm: ['claude-next', 'claude-sonnet-4-6'] }],
    ['deepgram', { stt: ['nova-9'], tts: ['aura-9'] }],
    ['elevenlabs', { tts: ['eleven_v9'] }],
    ['gemini', { llm: ['gemini-9-flash'] }],
    ['soniox', { stt: ['stt-rt-v9'] }],
  ] as const
  for (const [adapter, models] of cases)
    for (const apiKey of ['secret', 'env:NO_SUCH_KEY']) {
      const [provider] = await create([{ id: 'mine', adapter, apiKey, models: copyOf(models) }])
      const named = Object.entries(models).flatMap(([stage, ids]: [string, readonly string[]]) =>
        ids.map((id) => `mine ${stage} ${id}`),
      )
      const served = provider?.models.map((model) => `${model.provider} ${model.stage} ${model.id}`)
      t.same(served?.sort(), named.sort(), adapter)
      const made = provider?.models.find(({ id }) => /next|9/.test(id))
      t.match(made, { languages: ['*'], prices: [], benchmarks: [], lastResort: false }, 'without figures')
    }
  const wrong = { id: 'mine', adapter: 'anthropic', apiKey: 'k', models: { tts: ['claude-voice'] } }
  await t.rejects(
    create([wrong]),
    { message: /mine has no model claude-voice/ },
    'a stage that the vendor does not have',
  )
})

/** Copies the lists, because a configuration's type needs lists that can be changed. */
const copyOf = (models: Partial<Record<'llm' | 'stt' | 'tts', readonly string[]>>) =>
  Object.fromEntries(Object.entries(models).map(([stage, ids]) => [stage, [...ids]]))

t.test('an Ollama server on this machine is added when it answers', async (t) => {
  const answer = JSON.stringify({ data: [{ id: 'llama3.2:3b' }, { id: 'nomic-embed-text' }] })
  const server = createServer((_, response) => response.end(answer)).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.teardown(() => new Promise((resolve) => server.close(resolve)))
  const ollamaUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const ollamaOf = (providers: Awaited<ReturnType<typeof create>>) => providers.find(({ id }) => id === 'ollama')
  const ollama = ollamaOf(await create([], {}, { ollamaUrl }))
  t.match(ollama, { id: 'ollama', models: [] }, 'the start does not wait for Ollama')
  t.equal(ollama?.unavailable(), 'not_running')
  await until(() => ollama?.unavailable() === null)
  t.match(ollama?.models, [{ provider: 'ollama', id: 'llama3.2:3b', stage: 'llm' }])
  t.ok(ollama?.ports.llm)
  t.same(ollamaOf(await create([], {}, { ollamaUrl: 'http://127.0.0.1:1/v1' }))?.models, [])
  const configured = { id: 'mine', adapter: 'ollama', models: { llm: ['x'] } }
  t.same(callable(await create([configured], {}, { ollamaUrl })), ['mine'])
})

t.test('the adapter loopback serves stt, tts and llm as the last resort', async (t) => {
  const [provider] = await create([{ id: 'engine', adapter: 'loopback' }])
  const { speech: { stt, tts } = {}, llm } = (provider ?? createLoopbackProvider({ id: 'none' })).ports
  t.match(provider?.models, [
    { provider: 'engine', id: 'loopback', stage: 'stt', lastResort: true },
    { stage: 'tts' },
    { stage: 'llm' },
  ])
  const bytes = Buffer.from(Array.from({ length: 64 }, (_, i) => i))
  const recording: Recording = {
    chunks: [bytes.subarray(0, 5), bytes.subarray(5, 30), bytes.subarray(30)],
    bytes: 64,
    format: { container: 'raw', encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 },
    dataOffset: 8,
    dataBytes: 56,
    durationMs: 4,
  }
  const transcript = await stt?.transcribe({ model: 'loopback', recording, options: {} }, never)
  t.equal(transcript?.text, bytes.subarray(8, 32).toString('base64'))

  const items: LlmRequest['items'] = [
    { type: 'message', role: 'user', text: 'first' },
    { type: 'message', role: 'user', text: 'one  two three' },
    { type: 'message', role: 'assistant', text: 'fine' },
  ]
  const usage = { inputTokens: 5, cachedInputTokens: 0, outputTokens: 3, reasoningTokens: 0 }
  const echo = await llm?.respond({ ...ask, items }, never)
  t.same(echo, { text: 'one  two three', calls: [], stopReason: 'stop', usage })
  t.same(llm && (await collect(llm.stream({ ...ask, items, maxOutputTokens: 2 }, never))), [
    { type: 'text', delta: 'one  ' },
    { type: 'text', delta: 'two ' },
    { type: 'end', stopReason: 'max_output_tokens', usage: { ...usage, outputTokens: 2 } },
  ])

  for (const encoding of ['pcm_s16le', 'pcm_f32le', 'mulaw'] as const) {
    const outputFormat = { encoding, sampleRateHz: 44_100, channels: 2 }
    const speech = await tts?.synthesize({ model: 'loopback', text: 'Grüße, 20 Zeichen 😀.', outputFormat }, never)
    const native = encoding === 'pcm_f32le' ? 'pcm_f32le' : 'pcm_s16le'
    t.same(speech?.format, { ...outputFormat, encoding: native })
    const audio = Buffer.concat(await collect(speech?.audio ?? none()))
    t.equal(audio.length, 20 * 0.06 * 44_100 * 2 * (native === 'pcm_f32le' ? 4 : 2), encoding)
    const left = Array.from({ length: 44_100 }, (_, i) =>
      native === 'pcm_f32le' ? audio.readFloatLE(i * 8) : audio.readInt16LE(i * 4),
    )
    const crossings = left.filter((sample, i) => i > 0 && sample >= 0 && (left[i - 1] ?? 0) < 0).length
    t.ok(Math.abs(crossings - 440) <= 1, 'a tone of 440 Hz')
  }
  const gone = AbortSignal.abort()
  const speech = await tts?.synthesize(
    { model: 'loopback', text: 'x', outputFormat: { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } },
    gone,
  )
  await t.rejects(collect(speech?.audio ?? none()), { message: 'provider cancelled' })
})

async function* none(): AsyncGenerator<Uint8Array> {}
