/**
 * Runs the vendor's SDK against the stub. If the SDK understands the stub in every test case, the stub behaves like the
 * vendor.
 */
import { createRequire } from 'node:module'
import t from 'tap'
import { answerText, callArguments, weather } from '../suite/llm.ts'
import type { Cell } from '../suite/matrix.ts'
import { speechPcm } from '../suite/tts.ts'
import { startGeminiStub, usageMetadata } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Answer = {
  candidates?: { finishReason?: string; content?: { parts?: Part[] } }[]
  usageMetadata?: object
}
type Part = { text?: string; thought?: boolean; functionCall?: object; inlineData?: { data: string } }
type Client = {
  models: {
    generateContent(params: object): Promise<Answer>
    generateContentStream(params: object): Promise<AsyncIterable<Answer>>
    list(params: object): Promise<{ page: { name: string }[] }>
  }
}
type Sdk = { GoogleGenAI: new (options: object) => Client }

const sdk = load()
const skip = sdk ? false : '@google/genai is not installed: npm ci in test/vendors'
const stub = await startGeminiStub()
t.teardown(() => stub.close())

const ask = { model: 'gemini-2.5-flash', contents: 'Hello', config: { systemInstruction: 'Be brief.' } }
const say = {
  model: 'gemini-3.8-flash-tts',
  contents: [{ role: 'user', parts: [{ text: 'Hello', speechMetadata: { style: 'calm' } }] }],
  config: {
    responseModalities: ['AUDIO'],
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } }, languageCode: 'en' },
  },
}
const declaration = { name: weather.name, parametersJsonSchema: weather.parameters }
const tools = [{ functionDeclarations: [declaration] }]

type Way = (params: object, timeoutMs?: number) => Promise<Answer[]>
const ways: Record<string, Way> = {
  generateContent: async (params, timeoutMs) => [await client(timeoutMs).models.generateContent(params)],
  generateContentStream: async (params, timeoutMs) => {
    const answers: Answer[] = []
    for await (const answer of await client(timeoutMs).models.generateContentStream(params)) answers.push(answer)
    return answers
  },
}

for (const [name, call] of Object.entries(ways)) {
  t.test(`${name}: the Gemini SDK gets the stub's answer`, { skip }, async (t) => {
    for (const cell of ['ok', 'slow_first_byte'] as const) {
      stub.behave(cell)
      const answers = await call(ask)
      const said = parts(answers).filter(({ thought }) => !thought)
      t.equal(said.map(({ text }) => text).join(''), answerText)
      t.match(answers.at(-1), { candidates: [{ finishReason: 'STOP' }], usageMetadata })
    }
    const called = parts(await call({ ...ask, config: { tools } })).find(({ functionCall }) => functionCall)
    t.match(called?.functionCall, { name: weather.name, args: callArguments })
    t.match(JSON.parse(String(stub.seen.at(-1)?.body)), { tools }, 'it spells tools as the adapter does')
  })

  t.test(`${name}: the Gemini SDK gets the stub's speech`, { skip }, async (t) => {
    stub.behave('ok')
    const audio = parts(await call(say)).map(({ inlineData }) => Buffer.from(inlineData?.data ?? '', 'base64'))
    t.ok(Buffer.concat(audio).equals(speechPcm))
    t.match(JSON.parse(String(stub.seen[0]?.body)), { contents: say.contents, generationConfig: say.config })
    t.match(stub.seen[0]?.headers, { 'x-goog-api-key': 'key-stub' })
  })

  t.test(`${name}: the Gemini SDK reports the stub's errors`, { skip }, async (t) => {
    const streams = name === 'generateContentStream'
    const expected: [Cell, object][] = [
      ['auth', { status: 400, message: /API_KEY_INVALID/ }],
      ['quota', { status: 429, message: /PerDay/ }],
      ['rate_limited', { status: 429, message: /6\.2s/ }],
      ['rate_limited_bare', { status: 429 }],
      ['overloaded', { status: 503 }],
      ['server', { status: 500 }],
      ['bad_request', { status: 400 }],
      ['hang', {}],
      ['reset', {}],
      ['garbage', {}],
      ...(streams ? [['error_mid', { status: 503 }] as [Cell, object]] : [['cut', {}] as [Cell, object]]),
    ]
    for (const [cell, error] of expected) {
      stub.behave(cell)
      const outcome: unknown = await call(ask, cell === 'hang' ? 300 : 10_000).catch((error: unknown) => error)
      t.type(outcome, Error, cell)
      t.match(outcome, error, cell)
    }
    if (!streams) return
    stub.behave('cut')
    t.equal((await call(ask)).at(-1)?.candidates?.[0]?.finishReason, undefined, 'only a missing finish tells of a cut')
  })
}

t.test("the Gemini SDK gets the stub's list of models", { skip }, async (t) => {
  stub.behave('ok')
  t.match((await client().models.list({ config: { pageSize: 1 } })).page, [{ name: 'models/gemini-2.5-flash' }])
  t.match(stub.seen, [{ method: 'GET', path: '/v1beta/models?pageSize=1' }])
  stub.behave('auth')
  t.match(
    await client()
      .models.list({})
      .catch((error: unknown) => error),
    { status: 400 },
  )
})

const parts = (answers: Answer[]): Part[] => answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])

function client(timeout = 10_000): Client {
  if (!sdk) throw new Error('the SDK is missing')
  return new sdk.GoogleGenAI({ apiKey: 'key-stub', httpOptions: { baseUrl: stub.url, timeout } })
}

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('@google/genai') as Sdk
  } catch {
    return null
  }
}
