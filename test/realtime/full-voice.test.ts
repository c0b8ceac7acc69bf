/**
 * Tests streams of speech while the embedded engine or the vendor has no capacity left. A stream without capacity ends
 * with an error after complete sentences, and all other streams go on.
 */
import t, { type Test } from 'tap'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { spoken, startElevenLabsStub } from '../vendors/elevenlabs/stub.ts'
import type { Cell } from '../vendors/suite/matrix.ts'
import { speechPcm } from '../vendors/suite/tts.ts'
import { type Client, start } from './socket.ts'

const address = '/v1/synthesize/stream'
const limited = { code: 'RATE_LIMITED', closeCode: 1013 }

type Failure = { code: string; closeCode: number; message: RegExp }

/** Asserts that the error frame comes last, and that it says whether to retry. */
async function fails(t: Test, client: Client, { closeCode, code, message }: Failure): Promise<void> {
  t.equal(await client.closed, closeCode)
  t.match(client.received.at(-1)?.frame, { type: 'error', code, retryable: true, message })
  t.equal(client.frames('error').length, 1)
}

t.test('if the embedded TTS queue is full, a stream fails after a whole sentence, and others go on', async (t) => {
  // The engine speaks one sentence and lets one sentence wait. Each stream requests one sentence at a time, so two
  // streams always succeed.
  const server = await ownServer(t, { PARLEY_LOCAL_TTS_PROCESSES: '1', PARLEY_LOCAL_QUEUE_MAX: '1' })
  const greeting = 'Good morning.'
  const text = 'The meeting starts at nine. Please bring your papers with you. We will have lunch together.'
  const begin = () => start(server, address, { language: 'en', sampleRate: 16_000 })
  const say = (client: Client) => client.send({ type: 'text', text })
  const greet = async () => {
    const client = await begin()
    client.send({ type: 'text', text: greeting, flush: true })
    await client.takeAudio()
    return client
  }

  const alone = await greet()
  say(alone)
  alone.send({ type: 'end' })
  t.equal(await alone.closed, 1000)

  const clients: Client[] = []
  for (let i = 0; i < 8; i++) clients.push(await greet())
  clients.forEach(say)
  for (const client of clients) client.send({ type: 'end' })
  const codes = await Promise.all(clients.map(({ closed }) => closed))
  const served = clients.filter((_, i) => codes[i] === 1000)
  const refused = clients.filter((_, i) => codes[i] !== 1000)
  t.comment(`${served.length} were served, ${refused.length} refused`)
  t.ok(served.length >= 2)
  t.ok(refused.length >= 1)
  for (const client of served) t.ok(client.audio().equals(alone.audio()), 'all of the speech')
  for (const client of refused) {
    await fails(t, client, { ...limited, message: /busy/ })
    const audio = client.audio()
    t.ok(audio.equals(alone.audio().subarray(0, audio.length)), 'what came before is whole')
  }

  const later = await greet()
  later.send({ type: 'end' })
  t.equal(await later.closed, 1000, 'its circuit has not opened')
})

const deepgram = await startDeepgramStub()
const elevenLabs = await startElevenLabsStub()
t.teardown(() => Promise.all([deepgram.close(), elevenLabs.close()]))
const vendors = [
  { adapter: 'deepgram', stub: deepgram, speech: speechPcm, model: 'aura-2' },
  { adapter: 'elevenlabs', stub: elevenLabs, speech: spoken('pcm_24000'), model: 'eleven_flash_v2_5' },
]

for (const { adapter, stub, speech, model } of vendors)
  t.test(`if the vendor accepts no more connections, only the stream that needs one fails: ${adapter}`, async (t) => {
    const provider = { id: 'vendor', adapter, baseUrl: stub.url, apiKey: 'k', models: { tts: [model] } }
    const server = await ownServer(t, {
      PARLEY_PROVIDERS: JSON.stringify([provider]),
      PARLEY_LOCAL_ENABLED: 'false',
      // A warm socket would already use a part of the vendor's capacity, so warm sockets are turned off.
      PARLEY_WARM_SOCKETS_PER_ROUTE: '0',
    })
    const begin = async () => {
      stub.behave('ok')
      const client = await start(server, address, { language: 'en' })
      client.send({ type: 'text', text: 'One.', flush: true })
      await until('the first sentence is said', () => client.audio().length === speech.length)
      return client
    }
    const goOn = (client: Client) => {
      client.send({ type: 'text', text: 'Two.' })
      client.send({ type: 'end' })
    }
    const receives = (client: Client, sentences: number) => t.ok(client.audio().equals(repeated(speech, sentences)))

    const full: [Cell, Failure][] = [
      ['rate_limited', { ...limited, message: /rate/ }],
      ['rate_limited_bare', { ...limited, message: /rate/ }],
      ['overloaded', { code: 'UPSTREAM', closeCode: 1011, message: /broke off/ }],
    ]
    for (const [cell, failure] of full) {
      const [speaking, refused, other] = [await begin(), await begin(), await begin()]
      stub.behave('slow_first_byte')
      goOn(speaking)
      await until('the vendor is asked', () => stub.seen.length === 1)
      stub.behave(cell)
      goOn(refused)
      await fails(t, refused, failure)
      receives(refused, 1)
      t.equal(await speaking.closed, 1000, `${cell}: who has a place speaks to the end`)
      receives(speaking, 2)
      stub.behave('ok')
      goOn(other)
      t.equal(await other.closed, 1000, `${cell}: whoever asks later is served`)
      receives(other, 2)
    }
  })

const repeated = (audio: Buffer, times: number) => Buffer.concat(Array<Buffer>(times).fill(audio))
