/**
 * Through a proxy, events, audio and frames reach the client as they are sent. A buffering proxy would hold them to the
 * end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { startParley } from '../process/parley.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { start } from '../realtime/socket.ts'
import { chat, frame, loopbackStt, postJson, stt } from './load.ts'
import { pieceBytes, sendAudio, sendWords } from './paced.ts'
import { type ProxyName, startProxy } from './proxy.ts'

const pieces = 12
const everyMs = 250

export async function streams(t: Test, name: ProxyName): Promise<void> {
  const stub = await startStubOpenAi()
  const models = { llm: ['mock'], tts: ['mock-tts'] }
  const parley = await startParley({
    PARLEY_PROVIDERS: JSON.stringify([
      { id: 'mock', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models },
      { id: 'loopback', adapter: 'loopback' },
    ]),
  })
  const proxy = await startProxy(name, [parley.url])
  t.teardown(() => Promise.all([proxy.stop(), parley.remove(), stub.close()]))
  const target = { url: proxy.url, key: parley.key }

  await t.test('events reach the client as they are sent', async (t) => {
    const times = new Times()
    let left = pieces
    const next = () => {
      if (left-- === 0) return null
      times.sent()
      return 'word '
    }
    stub.behave({ kind: 'custom', answer: (_request, response) => void sendWords(response, everyMs, next) })
    const messages = [{ role: 'user', content: 'count' }]
    const answer = await postJson(target, chat, { model: 'mock:mock', stream: true, messages })
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      const words = Buffer.from(chunk).toString().split('"content":"word "').length - 1
      for (let i = 0; i < words; i++) times.arrived()
    }
    arrived(t, times)
  })

  await t.test('audio reaches the client as it is sent', async (t) => {
    const times = new Times()
    const sent = () => times.sent()
    stub.behave({ kind: 'custom', answer: (_request, response) => void sendAudio(response, everyMs, pieces, sent) })
    const answer = await postJson(target, '/v1/audio/speech/stream', { model: 'mock:mock-tts', input: 'count' })
    let bytes = 0
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      while (times.lateMs.length < Math.floor(bytes / pieceBytes)) times.arrived()
    }
    arrived(t, times)
  })

  await t.test('frames of a socket arrive as they are sent', async (t) => {
    const client = await start(target, stt, loopbackStt)
    const times = new Times()
    for (let i = 0; i < pieces; i++) {
      times.sent()
      client.sendBytes(frame)
      await client.take('transcript')
      times.arrived()
      await sleep(everyMs / 2)
    }
    arrived(t, times)
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
  })

  await t.test('an upload of 20 MB arrives whole', async (t) => {
    const answer = await fetch(`${target.url}/v1/transcribe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${target.key}`, 'content-type': 'audio/wav' },
      body: Buffer.alloc(20_000_000),
    })
    const { error } = (await answer.json()) as { error: { code: string } }
    t.equal(error.code, 'unsupported_media', 'the upload was read, and is not audio')
  })
}

class Times {
  readonly #sentMs: number[] = []
  readonly lateMs: number[] = []
  sent(): void {
    this.#sentMs.push(performance.now())
  }
  arrived(): void {
    this.lateMs.push(performance.now() - (this.#sentMs[this.lateMs.length] as number))
  }
}

/**
 * Asserts that the median delay is too short for a user to notice, and that the proxy held no piece of the stream until
 * the next piece came.
 */
function arrived(t: Test, { lateMs }: Times): void {
  t.equal(lateMs.length, pieces, 'all have come')
  const sorted = [...lateMs].sort((a, b) => a - b)
  const shown = `${lateMs.map((ms) => Math.round(ms)).join(' ')} ms late`
  t.comment(shown)
  t.ok((sorted[pieces / 2] as number) < 50, shown)
  t.ok((sorted[pieces - 1] as number) < everyMs, shown)
}
