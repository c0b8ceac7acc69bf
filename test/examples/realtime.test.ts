/** A server accepts and sends the frames that the contract's examples of the sockets show. */
import t, { type Test } from 'tap'
import { type Client, open, type TextFrame } from '../realtime/socket.ts'
import { ownServer } from '../server.ts'
import { readFixture } from '../speech/fixtures.ts'
import { sinePcm } from '../vendors/suite/stub-server.ts'
import { startProviders } from './providers.ts'
import { Examples } from './run.ts'

const providers = await startProviders()
t.teardown(() => providers.close())
const acme = await ownServer(t, {
  ...providers.env,
  PARLEY_LOCAL_ENABLED: 'false',
  PARLEY_WARM_SOCKETS_PER_ROUTE: '0',
})
// On a busy machine the models load slowly, so the time limit is long.
const embedded = await ownServer(t, { ...providers.withoutKeys, PARLEY_REALTIME_OPEN_MS: '60000' })

const examples = new Examples('realtime.asyncapi.yaml')
const send = (client: Client, ...addresses: string[]) => {
  for (const address of addresses) client.send(examples.frame(address))
}
const recording = readFixture('please-try-call-later')
const transcribe = '/v1/transcribe/stream'
const synthesize = '/v1/synthesize/stream'
const realtime = '/v1/realtime?intent=transcription'

/** Waits for a frame per type, in this order, and compares each with the example. */
async function receive(t: Test, client: Client, ...expected: [type: string, address: string][]): Promise<TextFrame[]> {
  const frames: TextFrame[] = []
  for (const [type, address] of expected) {
    const frame = await client.take(type)
    examples.compareFrame(t, address, frame)
    frames.push(frame)
  }
  return frames
}

t.test("events of a transcription by the embedded engine match the contract's examples", async (t) => {
  const client = await open(embedded, transcribe)
  send(client, 'SttConfig: microphone')
  await receive(t, client, ['ready', 'Ready: 0'])
  send(client, 'Ping: 0')
  await receive(t, client, ['pong', 'Pong: 0'])
  await client.feed(recording)
  await receive(t, client, ['transcript', 'Transcript: interim'])
  send(client, 'Flush: 0', 'End: 0')
  await receive(t, client, ['end', 'TranscriptionEnd: 0'])
  t.equal(await client.closed, 1000)
})

t.test("events of a transcription by a vendor match the contract's examples", async (t) => {
  const client = await open(acme, transcribe)
  send(client, 'SttConfig: telephone')
  await client.take('ready')
  await client.feed(new Uint8Array(16_000).fill(0x10), 800)
  await receive(t, client, ['speech_started', 'SpeechStarted: 0'])
  send(client, 'End: 0')
  await client.take('end')
  examples.compareFrame(t, 'Transcript: final', client.frames('transcript').at(-1))
})

t.test("events of live speech match the contract's examples", async (t) => {
  for (const config of ['TtsConfig: defaults', 'TtsConfig: telephone']) {
    const client = await open(embedded, synthesize)
    send(client, config)
    await client.take('ready')
    send(client, 'Text: piece', 'Text: last piece of an utterance')
    await client.takeAudio()
    send(client, 'Clear: 0')
    await receive(t, client, ['cleared', 'Cleared: 0'])
    send(client, 'End: 0')
    await receive(t, client, ['end', 'SpeechEnd: 0'])
  }
})

const sound = sinePcm(24_000, 24_000).toString('base64')
const transcription = 'conversation.item.input_audio_transcription'

t.test("events of the OpenAI-compatible protocol match the contract's examples", async (t) => {
  const client = await open(acme, realtime, { protocols: [] })
  await receive(t, client, ['session.created', 'SessionCreated: 0'])
  send(client, 'SessionUpdate: 0')
  await receive(t, client, ['session.updated', 'SessionUpdated: 0'])
  send(client, 'InputAudioBufferAppend: 0', 'InputAudioBufferClear: 0')
  await receive(t, client, ['input_audio_buffer.cleared', 'InputAudioBufferCleared: 0'])
  client.send({ type: 'input_audio_buffer.append', audio: sound })
  await receive(t, client, ['input_audio_buffer.speech_started', 'InputAudioBufferSpeechStarted: 0'])
  send(client, 'InputAudioBufferCommit: 0')
  await receive(
    t,
    client,
    ['input_audio_buffer.committed', 'InputAudioBufferCommitted: 0'],
    ['conversation.item.added', 'ConversationItemAdded: 0'],
    ['conversation.item.done', 'ConversationItemDone: 0'],
    [`${transcription}.delta`, 'InputAudioTranscriptionDelta: 0'],
    [`${transcription}.completed`, 'InputAudioTranscriptionCompleted: 0'],
  )
  client.send({ type: 'no.such.event' })
  await receive(t, client, ['error', 'ErrorEvent: 0'])
  client.socket.close()
  await client.closed
})

t.test("events for the end of an utterance that the server detects match the contract's examples", async (t) => {
  const client = await open(embedded, realtime, { protocols: [] })
  const input = { format: { type: 'audio/pcm', rate: 8000 }, turn_detection: { type: 'server_vad' } }
  client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
  const audio = Buffer.concat([recording.subarray(44), Buffer.alloc(24_000)])
  for (let at = 0; at < audio.length; at += 3200)
    client.send({ type: 'input_audio_buffer.append', audio: audio.subarray(at, at + 3200).toString('base64') })
  await receive(t, client, ['input_audio_buffer.speech_stopped', 'InputAudioBufferSpeechStopped: 0'])
  client.socket.close()
  await client.closed
})

t.test("events of the older OpenAI-compatible protocol match the contract's examples", async (t) => {
  const client = await open(acme, realtime, { protocols: [] })
  send(client, 'TranscriptionSessionUpdate: 0')
  await receive(t, client, ['transcription_session.updated', 'TranscriptionSessionUpdated: 0'])
  client.send({ type: 'input_audio_buffer.append', audio: sound })
  send(client, 'InputAudioBufferCommit: 0')
  await receive(t, client, ['conversation.item.created', 'ConversationItemCreated: 0'])
  client.socket.close()
  await client.closed
})

/** This test comes last, because afterwards the provider's circuit is open. */
t.test("events for a provider whose connection is lost match the contract's examples", async (t) => {
  providers.hooli.behave('cut')
  const client = await open(acme, transcribe)
  send(client, 'SttConfig: telephone')
  await client.take('ready')
  await client.feed(new Uint8Array(16_000).fill(0x10), 800)
  await receive(t, client, ['error', 'Error: 0'])
  const compatible = await open(acme, realtime, { protocols: [] })
  compatible.send({ type: 'input_audio_buffer.append', audio: sound })
  await receive(t, compatible, [`${transcription}.failed`, 'InputAudioTranscriptionFailed: 0'])
})

t.test('each example of the realtime API is compared with an event', (t) => {
  examples.complete(t, {})
  t.end()
})
