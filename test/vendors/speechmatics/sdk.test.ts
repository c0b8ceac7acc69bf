/** Drives the vendor's SDK against the stub. If the SDK understands the stub, the stub behaves like the vendor. */
import { createRequire } from 'node:module'
import t from 'tap'
import { until } from '../suite/given.ts'
import type { Cell } from '../suite/matrix.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { startSpeechmaticsStub } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Message = { message: string; metadata?: { transcript?: string }; seq_no?: number; type?: string }
type Client = {
  start(jwt: string, config: object): Promise<{ id: string }>
  sendAudio(audio: Uint8Array): void
  forceEndOfUtterance(): void
  stopRecognition(): Promise<void>
  addEventListener(event: 'receiveMessage', listener: (event: { data: Message }) => void): void
  addEventListener(event: 'socketStateChange', listener: (event: { socketState: string }) => void): void
}
type Sdk = { RealtimeClient: new (options: object) => Client }

const sdk = load()
const skip = sdk ? false : '@speechmatics/real-time-client is not installed: npm ci in test/vendors'
const config = {
  audio_format: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
  transcription_config: { language: 'en', model: 'enhanced', enable_partials: true },
}

void t.test("the Speechmatics SDK understands the stub's live recognition", { skip }, async (t) => {
  const stub = await startSpeechmaticsStub()
  t.teardown(() => stub.close())
  const [first, second] = [sinePcm(4000, 16_000), sinePcm(3200, 16_000)]
  const listen = (cell: Cell) => {
    stub.behave(cell)
    const client = new (present(sdk).RealtimeClient)({
      url: `${stub.url.replace('http', 'ws')}/v2`,
      connectionTimeout: 300,
    })
    const messages: Message[] = []
    const states: string[] = []
    client.addEventListener('receiveMessage', ({ data }) => messages.push(data))
    client.addEventListener('socketStateChange', ({ socketState }) => states.push(socketState))
    const count = (name: string) => messages.filter(({ message }) => message === name).length
    return { client, messages, states, count }
  }

  await t.test('the Speechmatics SDK receives two utterances', async (t) => {
    const { client, messages, count } = listen('ok')
    t.match(await client.start('token', config), { id: 'session' })
    client.sendAudio(first)
    client.forceEndOfUtterance()
    await until(() => count('EndOfUtterance') === 1, 'no end of an utterance')
    client.sendAudio(second)
    await until(() => count('AudioAdded') === 2, 'not all audio was taken')
    await client.stopRecognition()
    const finals = messages.filter(({ message }) => message === 'AddTranscript')
    t.equal(
      finals.map(({ metadata }) => metadata?.transcript).join(' '),
      `${transcriptOf(first)} ${transcriptOf(second)}`,
    )
    t.equal(count('AddPartialTranscript'), 2)
    t.equal(count('EndOfTranscript'), 1)
  })

  await t.test('the Speechmatics SDK receives the error of a refused session', async (t) => {
    const types = {
      auth: 'not_authorised',
      quota: 'timelimit_exceeded',
      rate_limited_bare: 'quota_exceeded',
      server: 'job_error',
      bad_request: 'invalid_config',
    }
    for (const [cell, message] of Object.entries(types))
      await t.rejects(listen(cell as Cell).client.start('token', config), { message }, cell)
    await t.rejects(listen('overloaded').client.start('token', config), { message: /503/ })
    await t.rejects(listen('hang').client.start('token', config), { message: /Timed out/ })
  })

  await t.test('the Speechmatics SDK reports a session that breaks in the middle', async (t) => {
    for (const cell of ['cut', 'reset', 'error_mid'] as const) {
      const { client, messages, states } = listen(cell)
      await client.start('token', config)
      client.sendAudio(first)
      await until(() => states.at(-1) === 'closed', 'not closed')
      t.equal(messages.at(-1)?.type, cell === 'error_mid' ? 'job_error' : undefined, cell)
    }
  })
})

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('@speechmatics/real-time-client') as Sdk
  } catch {
    return null
  }
}

function present(sdk: Sdk | null): Sdk {
  if (!sdk) throw new Error('the SDK is not installed')
  return sdk
}
