/** Tests /v1/transcribe/stream in the running product: real speech through the embedded engine. */
import t from 'tap'
import { linearToMulaw } from '../../audio/g711.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { loadPrompts } from '../speech/prompts.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { type Client, serverWithSpeech, start } from './socket.ts'

const address = '/v1/transcribe/stream'
const telephone = { language: 'en', sampleRate: 8000 }
const parley = await serverWithSpeech()

/** Returns a fixture's samples: 8 kHz, s16le, without the 44-byte header. */
const samples = (name: keyof typeof spoken) => Buffer.from(readFixture(name).subarray(44))

async function transcribed(client: Client): Promise<string> {
  client.send({ type: 'end' })
  await client.closed
  return client.text()
}

/** Runs some of the recorded prompts. PARLEY_TEST_SLOW=1 runs all prompts. */
t.test('prompts that are sent faster than real time are transcribed correctly', async (t) => {
  const found = await loadPrompts()
  if ('missing' in found) return t.comment(found.missing)
  const prompts = process.env['PARLEY_TEST_SLOW'] === '1' ? found.prompts : found.prompts.slice(0, 26)
  const counts = await inPairs(prompts, async ({ text, wav }) => {
    const config = { language: 'en', contentType: 'audio/wav', interimResults: false }
    const client = await start(parley, address, config, wav.subarray(0, 32_000))
    await client.feed(wav.subarray(32_000))
    return wordErrors(text, await transcribed(client))
  })
  const rate = errorRate(counts)
  t.comment(`${prompts.length} prompts: word error rate ${(100 * rate).toFixed(2)} %`)
  t.ok(rate <= 0.06, `word error rate ${rate}`)
})

t.test('a transcription stream accepts WAV, PCM and mu-law audio', async (t) => {
  const name = 'tt-weasels'
  const right = (t: { ok(value: boolean, message: string): unknown }, text: string, what: string) =>
    t.ok(errorRate([wordErrors(spoken[name], text)]) <= 0.35, `${what}: ${text}`)

  await t.test('a WAV header overrides the config', async (t) => {
    const client = await start(parley, address, { language: 'en', sampleRate: 48_000, encoding: 'mulaw' })
    client.sendBytes(readFixture(name))
    t.match(await client.take('ready'), { encoding: 'pcm_s16le', sampleRate: 8000, provider: 'local' })
    right(t, await transcribed(client), 'WAV')
  })

  await t.test('the sample rate is 16000 Hz if the config names no rate', async (t) => {
    const client = await start(parley, address, { language: 'en', contentType: 'audio/pcm' })
    t.match(client.frames('ready'), [{ encoding: 'pcm_s16le', sampleRate: 16_000 }])
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
  })

  await t.test('mu-law audio in frames with an odd length is transcribed', async (t) => {
    const client = await start(parley, address, { ...telephone, encoding: 'mulaw' })
    const pcm = samples(name)
    const coded = Uint8Array.from({ length: pcm.length / 2 }, (_, i) => linearToMulaw(pcm.readInt16LE(2 * i)))
    await client.feed(coded, 161)
    right(t, await transcribed(client), 'mu-law')
    t.match(client.frames('end'), [{ usage: { durationMs: Number, costMicroUsd: 0 } }])
    const { durationMs } = client.frames('end')[0]!['usage'] as { durationMs: number }
    t.ok(Math.abs(durationMs - coded.length / 8) < 50, `billed ${durationMs} ms`)
  })

  await t.test('flush makes the transcript final; the stream goes on', async (t) => {
    const client = await start(parley, address, { ...telephone, interimResults: false, endpointingMs: 5000 })
    await client.feed(samples(name), 321)
    client.send({ type: 'flush' })
    const first = await client.take('transcript')
    t.match(first, { isFinal: true, id: /^utt_/, language: 'en' })
    right(t, first['text'] as string, 'flushed')
    await client.feed(samples('conf-noempty'))
    t.ok(
      wordErrors(spoken['conf-noempty'], (await transcribed(client)).slice((first['text'] as string).length)).errors <=
        2,
    )
    t.notOk(
      client.frames('transcript').some(({ isFinal }) => !isFinal),
      'no interim transcript was asked for',
    )
  })

  await t.test('two simultaneous sockets get separate transcripts', async (t) => {
    const both = ['tt-weasels', 'conf-waitforleader'] as const
    const clients = await Promise.all(both.map(() => start(parley, address, telephone)))
    await Promise.all(both.map((name, i) => clients[i]!.feed(samples(name), 4000)))
    const texts = await Promise.all(clients.map(transcribed))
    for (const [i, text] of texts.entries()) t.ok(wordErrors(spoken[both[i]!], text).errors <= 2, text)
  })
})

async function inPairs<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (let i = 0; i < items.length; i += 2) results.push(...(await Promise.all(items.slice(i, i + 2).map(work))))
  return results
}
