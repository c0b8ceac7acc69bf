/** Hold audio through the real client, from a server under the test's control. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as afterOthers } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { encodeSamples } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { createFetchHoldAudio } from '../../domain/transfers/hold-audio.ts'
import { createWebhookClient } from '../../providers/wire/webhook-client.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { likenessOf } from '../audio/likeness.ts'
import { TestClock } from '../clock.ts'
import { readFixture } from '../speech/fixtures.ts'

const tone = Float32Array.from({ length: 48_000 }, (_, i) => 0.3 * Math.sin(i * (0.02 + i / 2_000_000)))
const wav = Buffer.concat([
  wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, 2 * tone.length),
  encodeSamples(tone, 'pcm_s16le'),
])
const clip = Int16Array.from(tone, (value) => value * 32_767)

async function bench(t: Test, answer: RequestListener, allowedSubnets = ['127.0.0.0/8']) {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clock = new TestClock()
  const logged: object[] = []
  const log = { info() {}, warn() {}, error: (fields: object) => void logged.push(fields) }
  const client = createWebhookClient({ guard: { allowedSubnets }, clock: systemClock })
  t.teardown(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  const fetchHoldAudio = createFetchHoldAudio({ client, clock, log, pause: () => afterOthers() })
  const failures: string[] = []
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hold.wav?a=b`
  return {
    clock,
    requests,
    failures,
    logged,
    url,
    fetch: (at = url) => fetchHoldAudio(at, (why) => failures.push(why)),
  }
}

t.test('hold audio is fetched once, and played at the rate of the call', async (t) => {
  const { fetch, requests, failures } = await bench(t, (_, response) => response.end(wav))
  const audio = fetch()
  const samples = await audio?.(16_000)
  t.ok(samples && likenessOf(clip.subarray(0, 16_000), samples) > 0.99)
  const again = await audio?.(8000)
  t.ok(again && Math.abs(again.length - 24_000) <= 2, 'the bytes are kept')
  t.same([requests, failures], [['GET /hold.wav?a=b'], []])
})

const bytesMax = 5 * 1024 * 1024

/** Makes a WAV of this length with its header. */
function wavOf(bytes: number): Buffer {
  const header = wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, bytes - headerBytes)
  return Buffer.concat([header, Buffer.alloc(bytes - headerBytes, encodeSamples(tone, 'pcm_s16le'))])
}
const headerBytes = wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, 0).length

for (const [name, send] of [
  ['whose length is told', (response: ServerResponse, body: Buffer) => void response.end(body)],
  [
    'in pieces, without a length',
    (response: ServerResponse, body: Buffer) => {
      response.write(body.subarray(0, 100_000))
      response.end(body.subarray(100_000))
    },
  ],
] as const)
  t.test(`hold audio of 5 MiB ${name} is accepted, and one byte more is refused`, async (t) => {
    const taken = await bench(t, (_, response) => send(response, wavOf(bytesMax)))
    const samples = await taken.fetch()?.(16_000)
    t.same(taken.failures, [])
    t.equal(samples?.length, (bytesMax - headerBytes) / 2)
    t.ok(likenessOf(clip.subarray(0, 16_000), samples?.subarray(0, 48_000) ?? new Int16Array()) > 0.99)
    const refused = await bench(t, (_, response) => send(response, wavOf(bytesMax + 1)))
    t.equal(await refused.fetch()?.(16_000), null)
    t.same(refused.failures, ['too_large'])
  })

t.test('if hold audio cannot be fetched, the error has the reason, and the content is not logged', async (t) => {
  const big = Buffer.alloc(5 * 1024 * 1024 + 1)
  const cases: [string, RequestListener][] = [
    ['status', (_, response) => response.writeHead(404).end(wav)],
    ['status', (_, response) => response.writeHead(204).end()],
    ['status', (_, response) => response.writeHead(206).end(wav)],
    ['too_large', (_, response) => response.end(big)],
    ['unrecognised', (_, response) => response.end('<html>Sign in</html>')],
    ['unsupported', (_, response) => response.end(readFixture('privacy-prompt', 'mp3'))],
    ['unsupported', (_, response) => response.end(readFixture('privacy-prompt', 'flac'))],
    ['empty', (_, response) => response.end()],
    ['empty', (_, response) => response.end(wavOf(headerBytes))],
    [
      'broken_off',
      (_, response) => response.writeHead(200, { 'content-length': 99 }).write('RIFF', () => response.destroy()),
    ],
  ]
  for (const [reason, answer] of cases) {
    const { fetch, failures, logged } = await bench(t, answer)
    t.equal(await fetch()?.(16_000), null)
    t.same([failures, logged], [[reason], []], reason)
  }
})

for (const [title, begin] of [
  ['is silent', () => {}],
  ['sends its audio too slowly', (response: ServerResponse) => void response.write(wav.subarray(0, 1000))],
] as const)
  t.test(`the fetch from a hold audio server that ${title} is aborted after 10 s`, async (t) => {
    let asked = () => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const { fetch, clock, failures } = await bench(t, (_, response) => {
      begin(response)
      asked()
    })
    const audio = fetch()?.(16_000)
    await isAsked
    await clock.advance(9_999)
    t.same(failures, [])
    await clock.advance(1)
    t.equal(await audio, null)
    t.same(failures, ['timed_out'])
  })

t.test('a redirect of hold audio is not followed', async (t) => {
  const { fetch, failures, requests } = await bench(t, (request, response) =>
    request.url === '/other.wav' ? response.end(wav) : response.writeHead(302, { location: '/other.wav' }).end(),
  )
  t.equal(await fetch()?.(16_000), null)
  t.same([failures, requests], [['status'], ['GET /hold.wav?a=b']])
})

t.test('hold audio at a private address is refused', async (t) => {
  for (const host of ['127.0.0.1', 'localhost']) {
    const { fetch, url, failures, requests } = await bench(t, (_, response) => response.end(wav), [])
    t.equal(await fetch(url.replace('127.0.0.1', host))?.(16_000), null)
    t.same([failures, requests], [['blocked'], []], host)
  }
})
