/** /v1/realtime as clients of the compatible protocol use it, on real speech. */
import t from 'tap'
import { startParley } from '../process/parley.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { type Client, open } from './socket.ts'

const address = '/v1/realtime?intent=transcription'
const parley = await startParley()
t.teardown(() => parley.remove())

const transcription = 'conversation.item.input_audio_transcription'
const name = 'tt-weasels'
const input = (more: object) => ({ audio: { input: { format: { type: 'audio/pcm', rate: 8000 }, ...more } } })

function append(client: Client, silenceMs = 0): void {
  const pcm = Buffer.concat([readFixture(name).subarray(44), Buffer.alloc(silenceMs * 16)])
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

t.test('the server finds the turns', async (t) => {
  const client = await connect(
    input({ transcription: { language: 'en' }, turn_detection: { type: 'server_vad', silence_duration_ms: 300 } }),
  )
  append(client, 1500)
  const done = await client.take(`${transcription}.completed`)
  t.ok(wordErrors(spoken[name], done['transcript'] as string).errors <= 2, done['transcript'] as string)
  const order = client.received.map(({ frame }) => frame!.type).filter((type) => !type.endsWith('delta'))
  t.same(order.slice(2), [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.created',
    `${transcription}.completed`,
  ])
  const items = new Set(
    client.received.flatMap(({ frame }) => (frame!['item_id'] ? [frame!['item_id'] as string] : [])),
  )
  t.equal(items.size, 1, 'all of one item')
  client.socket.close()
  await client.closed
})

t.test('the client commits', async (t) => {
  const protocols = ['realtime', `openai-insecure-api-key.${parley.key}`]
  const client = await connect(input({ turn_detection: null }), { protocols, headers: {} })
  append(client)
  client.send({ type: 'input_audio_buffer.commit' })
  const done = await client.take(`${transcription}.completed`)
  t.ok(wordErrors(spoken[name], done['transcript'] as string).errors <= 2, done['transcript'] as string)
  t.equal(client.frames('input_audio_buffer.speech_started').length, 0)
  client.socket.close()
  await client.closed
})

t.test('what is wrong is said, and the session goes on', async (t) => {
  const client = await connect({})
  client.send({ type: 'input_audio_buffer.commit' })
  t.match(await client.take('error'), { error: { type: 'invalid_request_error', code: 'INVALID_FRAME' } })
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
