/** Tests /v1/realtime with real speech, as clients for OpenAI's protocol use it. */
import t from 'tap'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { type Client, open, refusal, serverWithSpeech } from './socket.ts'

const address = '/v1/realtime?intent=transcription'
const parley = await serverWithSpeech()

const transcription = 'conversation.item.input_audio_transcription'
const name = 'tt-weasels'
const speech = readFixture(name).subarray(44)
const input = (more: object) => ({ audio: { input: { format: { type: 'audio/pcm', rate: 8000 }, ...more } } })

const silence = (ms: number) => Buffer.alloc(ms * 16)

function append(client: Client, ...audio: Uint8Array[]): void {
  const pcm = Buffer.concat(audio)
  for (let at = 0; at < pcm.length; at += 3200)
    client.send({ type: 'input_audio_buffer.append', audio: pcm.subarray(at, at + 3200).toString('base64') })
}

async function connect(session: object, opening: object = { protocols: [] }): Promise<Client> {
  const client = await open(parley, address, opening)
  t.match(await client.take('session.created'), { session: { type: 'transcription' } })
  client.send({ type: 'session.update', session: { type: 'transcription', ...session } })
  await client.take('session.updated')
  return client
}

t.test('with server_vad the server detects the ends of utterances', async (t) => {
  const client = await connect(
    input({ transcription: { language: 'en' }, turn_detection: { type: 'server_vad', silence_duration_ms: 300 } }),
  )
  append(client, speech, silence(1500))
  const done = await client.take(`${transcription}.completed`)
  t.ok(wordErrors(spoken[name], done['transcript'] as string).errors <= 2, done['transcript'] as string)
  const order = client.received.map(({ frame }) => frame!.type).filter((type) => !type.endsWith('delta'))
  t.same(order.slice(2), [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    `${transcription}.completed`,
  ])
  const items = new Set(
    client.received.flatMap(({ frame }) => (frame!['item_id'] ? [frame!['item_id'] as string] : [])),
  )
  t.equal(items.size, 1, 'all of one item')
  client.socket.close()
  await client.closed
})

t.test('without turn detection the client commits its audio', async (t) => {
  const protocols = ['realtime', `openai-insecure-api-key.${parley.key}`]
  const client = await connect(input({ turn_detection: null }), { protocols, headers: {} })
  append(client, speech)
  client.send({ type: 'input_audio_buffer.commit' })
  const done = await client.take(`${transcription}.completed`)
  t.ok(wordErrors(spoken[name], done['transcript'] as string).errors <= 2, done['transcript'] as string)
  t.equal(client.frames('input_audio_buffer.speech_started').length, 0)
  client.socket.close()
  await client.closed
})

t.test('audio that the client cleared is never transcribed', async (t) => {
  const client = await connect(input({ turn_detection: null }))
  append(client, speech)
  client.send({ type: 'input_audio_buffer.clear' })
  await client.take('input_audio_buffer.cleared')
  client.send({ type: 'input_audio_buffer.commit' })
  t.match(
    await client.take('error'),
    { error: { code: 'input_audio_buffer_commit_empty' } },
    'nothing is left to commit',
  )
  append(client, silence(1000))
  client.send({ type: 'input_audio_buffer.commit' })
  t.match(await client.take(`${transcription}.completed`), { transcript: '' })
  t.same(client.frames(`${transcription}.delta`), [])

  append(client, speech)
  client.send({ type: 'input_audio_buffer.commit' })
  client.send({ type: 'input_audio_buffer.clear' })
  await client.take('input_audio_buffer.cleared')
  const done = await client.take(`${transcription}.completed`)
  t.ok(
    wordErrors(spoken[name], done['transcript'] as string).errors <= 2,
    'audio that was committed before is transcribed',
  )
  client.socket.close()
  await client.closed
})

t.test('event times count from the start of the OpenAI-compatible session', async (t) => {
  const client = await connect(input({ turn_detection: { type: 'server_vad', silence_duration_ms: 300 } }))
  append(client, silence(5000))
  client.send({ type: 'input_audio_buffer.clear' })
  append(client, speech, silence(1500))
  const { audio_start_ms: startMs } = await client.take('input_audio_buffer.speech_started')
  t.ok((startMs as number) >= 5000, `${String(startMs)} ms`)
  client.socket.close()
  await client.closed
})

t.test('a commit is answered even while more audio keeps coming', async (t) => {
  const client = await connect(input({ turn_detection: null }))
  append(client, silence(500))
  client.send({ type: 'input_audio_buffer.commit' })
  const microphone = setInterval(() => append(client, silence(50)), 50)
  t.teardown(() => clearInterval(microphone))
  t.match(await client.take(`${transcription}.completed`, 10_000), { transcript: '' })
  client.socket.close()
  await client.closed
})

t.test('the OpenAI-compatible socket transcribes, and refuses conversations', async (t) => {
  const headers = { authorization: `Bearer ${parley.key}` }
  for (const intent of ['translation', ''])
    t.same(
      await refusal(parley, `/v1/realtime?intent=${intent}`, { protocols: [], headers }),
      { status: 400, code: 'invalid_parameter' },
      `intent ${intent}`,
    )
  const client = await open(parley, '/v1/realtime', { protocols: [] })
  await client.take('session.created')
  const events = [{ type: 'session.update', session: { type: 'realtime' } }, { type: 'response.create' }]
  for (const event of events) {
    client.send(event)
    const message = /^\/(session\/)?type must be .*\. This socket only transcribes.*POST \/v1\/sessions\.$/
    t.match(await client.take('error'), { error: { type: 'invalid_request_error', message } }, event.type)
  }
  client.send({ type: 'session.update', session: { type: 'transcription' } })
  await client.take('session.updated')
  client.socket.close()
  await client.closed
})

t.test('an invalid event is answered with an error event, and the session goes on', async (t) => {
  const client = await connect({})
  client.send({ type: 'input_audio_buffer.commit' })
  t.match(await client.take('error'), {
    error: { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty' },
  })
  client.send({ type: 'response.create' })
  t.match(await client.take('error'), { error: { code: 'INVALID_FRAME' } })
  client.send('{')
  t.match(await client.take('error'), { error: { code: 'INVALID_FRAME' } })
  client.send({ type: 'input_audio_buffer.clear' })
  await client.take('input_audio_buffer.cleared')
  client.sendBytes(Buffer.alloc(320))
  t.match(await client.take('error'), { error: { code: 'INVALID_FRAME' } })
  client.socket.close()
  await client.closed
})
