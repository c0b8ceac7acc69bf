/** Opus on sockets: one packet a frame, at 48 kHz unless another rate is named. */
import { OpusDecoder } from 'opus-decoder'
import t from 'tap'
import { startParley } from '../process/parley.ts'
import { readFixture } from '../speech/fixtures.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { open, start } from './socket.ts'

const stub = await startDeepgramStub()
const models = { stt: ['nova-3'], tts: ['aura-2'] }
const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url, apiKey: 'k', models }
const parley = await startParley({ PARLEY_PROVIDERS: JSON.stringify([vendor]), PARLEY_WARM_SOCKETS_PER_ROUTE: '0' })
t.teardown(async () => {
  await parley.remove()
  await stub.close()
})

const recording = readFixture('privacy-prompt', 'opus')

t.test('speech', async (t) => {
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

t.test('audio of the client', async (t) => {
  stub.behave('ok')
  const client = await start(parley, '/v1/transcribe/stream', {
    encoding: 'opus',
    language: 'en',
    model: 'vendor/nova-3',
  })
  t.match(client.frames('ready'), [{ encoding: 'opus', sampleRate: 48_000 }])
  const query = queryOf(stub.seen.at(-1)!)
  t.match([query.get('encoding'), query.get('sample_rate')], ['opus', '48000'])
  client.socket.terminate()
})
