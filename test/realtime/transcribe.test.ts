/** /v1/transcribe/stream of the running product: real speech through the embedded engine. */
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { linearToMulaw } from '../../audio/g711.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { loadPrompts } from '../speech/prompts.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { type Client, median, serverWithSpeech, start } from './socket.ts'

const address = '/v1/transcribe/stream'
const telephone = { language: 'en', sampleRate: 8000 }
const parley = await serverWithSpeech()

/** The samples of a fixture: 8 kHz, s16le, behind the usual header of 44 bytes. */
const samples = (name: keyof typeof spoken) => Buffer.from(readFixture(name).subarray(44))

async function transcribed(client: Client): Promise<string> {
  client.send({ type: 'end' })
  await client.closed
  return client.text()
}

/** A part of the prompts that files are tested with. PARLEY_TEST_SLOW=1 runs them all. */
t.test('recorded prompts, fed faster than they were spoken', async (t) => {
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

t.test('audio at the speed of speech', async (t) => {
  const names = Object.keys(spoken).slice(0, 5) as (keyof typeof spoken)[]
  const [firstMs, finalMs]: [number[], number[]] = [[], []]
  for (const name of names) {
    const client = await start(parley, address, { ...telephone, endpointingMs: 300 })
    const speech = Buffer.concat([samples(name), Buffer.alloc(16_000)])
    const beginMs = performance.now()
    await feedPaced(client, speech)
    const final = await client.take('transcript').then((first) => (first['speechFinal'] ? first : speechFinal(client)))
    const arrival = (fits: (isFinal: boolean) => boolean) =>
      client.received.find(({ frame }) => frame?.type === 'transcript' && fits(frame['isFinal'] as boolean))!.atMs
    firstMs.push(arrival((isFinal) => !isFinal) - beginMs - onsetMs(speech))
    const saidMs = client.received.find(({ frame }) => frame === final)!.atMs
    // The end point is decided after the configured silence.
    finalMs.push(saidMs - beginMs - (final['endMs'] as number) - 300)
    t.match(client.frames('speech_started')[0], { startMs: Number })
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
  }
  const shown = (values: number[]) => `${Math.round(median(values))} ms (${values.map(Math.round).join(', ')})`
  const load = os.loadavg()[0]! / os.cpus().length
  t.comment(`first partial after the first sound ${shown(firstMs)}; final after the endpoint ${shown(finalMs)}`)
  t.comment(`load ${load.toFixed(1)} a core`)
  // This bound holds on an idle machine. On a shared one our delays cannot be separated from those of others.
  const [firstMsMax, finalMsMax] = load < 1 ? [800, 500] : [1500, 1000]
  t.ok(median(firstMs) <= firstMsMax, 'first partial')
  t.ok(median(finalMs) <= finalMsMax, 'final')
})

t.test('the frames', async (t) => {
  const name = 'tt-weasels'
  const right = (t: { ok(value: boolean, message: string): unknown }, text: string, what: string) =>
    t.ok(errorRate([wordErrors(spoken[name], text)]) <= 0.35, `${what}: ${text}`)

  await t.test('a WAV header goes before the config', async (t) => {
    const client = await start(parley, address, { language: 'en', sampleRate: 48_000, encoding: 'mulaw' })
    client.sendBytes(readFixture(name))
    t.match(await client.take('ready'), { encoding: 'pcm_s16le', sampleRate: 8000, provider: 'local' })
    right(t, await transcribed(client), 'WAV')
  })

  await t.test('samples have 16000 Hz where the config names no rate', async (t) => {
    const client = await start(parley, address, { language: 'en', contentType: 'audio/pcm' })
    t.match(client.frames('ready'), [{ encoding: 'pcm_s16le', sampleRate: 16_000 }])
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
  })

  await t.test('mu-law, in frames of an odd length', async (t) => {
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

  await t.test('two sockets at once do not share anything', async (t) => {
    const both = ['tt-weasels', 'conf-waitforleader'] as const
    const clients = await Promise.all(both.map(() => start(parley, address, telephone)))
    await Promise.all(both.map((name, i) => clients[i]!.feed(samples(name), 4000)))
    const texts = await Promise.all(clients.map(transcribed))
    for (const [i, text] of texts.entries()) t.ok(wordErrors(spoken[both[i]!], text).errors <= 2, text)
  })
})

async function speechFinal(client: Client) {
  for (;;) {
    const frame = await client.take('transcript')
    if (frame['speechFinal']) return frame
  }
}

/** Sends 20 ms of 8 kHz, s16le each 20 ms, by the clock and not by adding up sleeps. */
async function feedPaced(client: Client, bytes: Buffer): Promise<void> {
  const beginMs = performance.now()
  for (let at = 0, dueMs = beginMs; at < bytes.length; at += 320, dueMs += 20) {
    await sleep(Math.max(0, dueMs + 20 - performance.now()))
    client.sendBytes(bytes.subarray(at, at + 320))
  }
}

/** The start of speech in a recording: the first 20 ms at a thirtieth of full scale. */
function onsetMs(pcm: Buffer): number {
  for (let at = 0; at < pcm.length; at += 320) {
    let sum = 0
    for (let i = at; i < Math.min(at + 320, pcm.length); i += 2) sum += pcm.readInt16LE(i) ** 2
    if (Math.sqrt(sum / 160) > 1000) return at / 16
  }
  return 0
}

async function inPairs<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (let i = 0; i < items.length; i += 2) results.push(...(await Promise.all(items.slice(i, i + 2).map(work))))
  return results
}
