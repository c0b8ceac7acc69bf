/**
 * Tests /v1/synthesize/stream in the running product: the recognizer understands the speech, and cleared text is never
 * sent.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { realtimeErrors } from '../../generated/realtime/errors.ts'
import { transcribe } from '../router/requests.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { type Client, loopbackModel, serverWithSpeech, start } from './socket.ts'

const address = '/v1/synthesize/stream'
const parley = await serverWithSpeech()

/** Transcribes 16-bit samples with the embedded recognizer. */
async function transcriptOf(pcm: Buffer, sampleRateHz: number): Promise<string> {
  const header = wavHeader({ encoding: 'pcm_s16le', sampleRateHz, channels: 1 }, pcm.length)
  const answer = await transcribe(parley, Buffer.concat([header, pcm]), { language: 'en' })
  return answer.json<{ text: string }>().text
}

async function spoken(client: Client, ...pieces: string[]): Promise<Buffer> {
  for (const text of pieces) client.send({ type: 'text', text })
  client.send({ type: 'end' })
  await client.closed
  return client.audio()
}

t.test('text that is sent in pieces is spoken with the same words', async (t) => {
  const text =
    'The meeting starts at nine in the morning. Please bring your papers with you. We will have lunch together.'
  const client = await start(parley, address, { language: 'en' })
  t.match(client.frames('ready')[0], { provider: 'local', encoding: 'pcm_s16le', sampleRate: 24_000, region: 'local' })
  const pcm = await spoken(client, ...(text.match(/.{1,7}/g) ?? []))
  const found = await transcriptOf(pcm, 24_000)
  t.ok(errorRate([wordErrors(text, found)]) <= 0.25, found)
  t.match(client.received.at(-1)?.frame, { type: 'end', usage: { characters: Number, costMicroUsd: 0 } })
  const { characters } = client.frames('end')[0]!['usage'] as { characters: number }
  t.ok(characters >= text.length - 2, `${characters} characters`)
  t.equal(await client.closed, 1000)
})

t.test("the audio has the config's encoding and sample rate", async (t) => {
  const text = 'Thank you.'
  const bytes = async (config: object) => {
    const client = await start(parley, address, config)
    t.match(client.frames('ready')[0], config)
    return (await spoken(client, text)).length
  }
  const pcm = await bytes({ encoding: 'pcm_s16le', sampleRate: 16_000 })
  for (const [encoding, sampleRate, share] of [
    ['pcm_f32le', 16_000, 2],
    ['mulaw', 8000, 1 / 4],
    ['alaw', 8000, 1 / 4],
    ['pcm_s16le', 48_000, 3],
  ] as const) {
    const found = await bytes({ encoding, sampleRate })
    t.ok(Math.abs(found / pcm - share) < 0.05 * share, `${encoding} ${sampleRate}: ${found} beside ${pcm} bytes`)
  }
})

t.test('clear stops the speech and reports how many characters were sent', async (t) => {
  const long = 'This sentence is one of very many that nobody will ever hear to the end. '.repeat(40)
  const client = await start(parley, address)
  for (let round = 0; round < 7; round++) {
    client.send({ type: 'text', text: long })
    await client.takeAudio()
    client.send({ type: 'clear' })
    const { charactersSent } = await client.take('cleared')
    t.ok((charactersSent as number) < long.length * (round + 1), `${String(charactersSent)} characters were sent`)
    const from = client.received.length
    await sleep(100)
    t.equal(client.audio(from).length, 0, 'nothing follows')
  }
  const from = client.received.length
  client.send({ type: 'text', text: 'Good morning to you all.' })
  client.send({ type: 'end' })
  await client.closed
  const found = await transcriptOf(client.audio(from), 24_000)
  t.ok(wordErrors('Good morning to you all.', found).errors <= 2, `only the next text is in the speech: ${found}`)
})

t.test('flush speaks the text that waits, and ping is answered', async (t) => {
  const client = await start(parley, address, { model: loopbackModel, sampleRate: 8000 })
  client.send({ type: 'text', text: 'no end yet' })
  client.send({ type: 'ping' })
  await client.take('pong')
  t.equal(client.audio().length, 0, 'half a sentence waits')
  client.send({ type: 'text', text: ' here', flush: true })
  await client.takeAudio()
  client.send({ type: 'text', text: 'Bye' })
  client.send({ type: 'flush' })
  client.send({ type: 'end' })
  t.equal(await client.closed, 1000)
  // The engine makes 60 ms of audio for each character.
  t.equal(client.audio().length, ('no end yet here'.length + 'Bye'.length) * 60 * 16)
})

t.test('text that the voice cannot speak is refused as INVALID_TEXT', async (t) => {
  const client = await start(parley, address, { language: 'en' })
  client.send({ type: 'text', text: '你好。' })
  client.send({ type: 'end' })
  t.equal(await client.closed, 1008)
  const { retryable, message } = realtimeErrors.INVALID_TEXT
  t.match(client.received.at(-1)?.frame, { type: 'error', code: 'INVALID_TEXT', retryable, message })
})
