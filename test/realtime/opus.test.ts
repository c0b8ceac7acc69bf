/** Tests Opus on sockets: one packet per frame, at 48 kHz unless the config has another rate. */
import { OpusDecoder } from 'opus-decoder'
import t from 'tap'
import { ownServer } from '../server.ts'
import { packetsOf, readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { open, start } from './socket.ts'

const stub = await startDeepgramStub()
const models = { stt: ['nova-3'], tts: ['aura-2'] }
const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url, apiKey: 'k', models }
t.teardown(() => stub.close())
const parley = await ownServer(t, { PARLEY_PROVIDERS: JSON.stringify([vendor]), PARLEY_WARM_SOCKETS_PER_ROUTE: '0' })

const recording = readFixture('privacy-prompt', 'opus')
const stt = '/v1/transcribe/stream'
const packets: { encoding: string; language: string; sampleRate?: number } = { encoding: 'opus', language: 'en' }
const embedded = 'local/moonshine-tiny-en'

t.test('live speech is sent as packets of Opus', async (t) => {
  stub.play((response) => {
    response.writeHead(200, { 'content-type': 'audio/ogg;codecs=opus' })
    for (let at = 0; at < recording.length; at += 1000) response.write(recording.subarray(at, at + 1000))
    response.end()
  })
  const client = await start(parley, '/v1/synthesize/stream', { encoding: 'opus', language: 'en' })
  t.match(client.frames('ready'), [{ provider: 'vendor', encoding: 'opus', sampleRate: 48_000 }])
  client.send({ type: 'text', text: 'One sentence. And another. ' })
  client.send({ type: 'end' })
  t.equal(await client.closed, 1000)
  const packets = client.received.flatMap(({ audio }) => (audio ? [audio] : []))
  const decoder = new OpusDecoder()
  await decoder.ready
  const { samplesDecoded, errors } = decoder.decodeFrames(packets)
  decoder.free()
  t.same(errors, [], `${packets.length} frames are packets`)
  const recordedMs = (readFixture('privacy-prompt').length - 44) / 16
  t.ok(Math.abs(samplesDecoded / 48 - 2 * recordedMs) < 200, 'of both sentences')

  const other = await open(parley, '/v1/synthesize/stream')
  other.send({ type: 'config', encoding: 'opus', sampleRate: 24_000, language: 'en' })
  t.equal(await other.closed, 1008)
  t.match(other.frames('error'), [{ code: 'INVALID_CONFIG' }], 'at a rate that no provider emits')
})

t.test('Opus packets from the client are forwarded to a vendor', async (t) => {
  stub.behave('ok')
  const client = await start(parley, stt, { ...packets, model: 'vendor/nova-3' })
  t.match(client.frames('ready'), [{ encoding: 'opus', sampleRate: 48_000 }])
  const query = queryOf(stub.seen.at(-1)!)
  t.match([query.get('encoding'), query.get('sample_rate')], ['opus', '48000'])
  client.socket.terminate()
})

t.test('Opus packets from the client are decoded for the embedded speech recognizer', async (t) => {
  const recorded = await packetsOf('privacy-prompt')
  const recordedMs = recorded.length * 20
  for (const config of [packets, { ...packets, sampleRate: 16_000, channels: 2 }]) {
    const client = await start(parley, stt, { ...config, model: embedded })
    t.match(client.frames('ready'), [{ provider: 'local', encoding: 'opus', sampleRate: config.sampleRate ?? 48_000 }])
    for (const packet of recorded) client.sendBytes(packet)
    client.send({ type: 'end' })
    t.equal(await client.closed, 1000)
    t.equal(wordErrors(spoken['privacy-prompt'], client.text()).errors, 0, client.text())
    t.match(client.frames('end'), [{ usage: { durationMs: recordedMs } }])
  }
  const surround = await open(parley, stt)
  surround.send({ type: 'config', ...packets, channels: 6, model: embedded })
  t.equal(await surround.closed, 1008)
  t.match(surround.frames('error'), [{ code: 'INVALID_CONFIG' }])
})

t.test('a frame that is not exactly one Opus packet is refused', async (t) => {
  const recorded = await packetsOf('privacy-prompt')
  const wrong = {
    'a page of Ogg': recording.subarray(0, 500),
    'the packets of a minute': Buffer.concat(recorded),
    'more than a packet has': Buffer.alloc(7681, 3),
  }
  for (const model of [embedded, 'vendor/nova-3'])
    for (const [name, frame] of Object.entries(wrong)) {
      const client = await start(parley, stt, { ...packets, model })
      client.sendBytes(recorded[0]!)
      client.sendBytes(frame)
      t.equal(await client.closed, 1008, name)
      t.match(client.frames('error'), [{ code: 'INVALID_FRAME', retryable: false, message: /one packet a frame/ }])
    }
  // Each Opus packet has one byte and lasts 60 ms. So the audio runs ahead of real time long before the byte limit is
  // reached.
  const fast = await start(parley, stt, { ...packets, model: embedded })
  for (let sent = 0; sent < 10_000; sent++) fast.sendBytes(Buffer.of(3 << 3))
  t.equal(await fast.closed, 1013)
  t.match(fast.frames('error'), [{ code: 'RATE_LIMITED' }])
})
