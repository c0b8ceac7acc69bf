/** Tests sessions at /v1/realtime over a vendor's stub: how they end, and the events before. */
import t, { type Test } from 'tap'
import { judgedFetch } from '../oracle.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { queryOf, startDeepgramStub } from '../vendors/deepgram/stub.ts'
import { playListen } from '../vendors/deepgram/stub-sockets.ts'
import { type StubSocket, sinePcm } from '../vendors/suite/stub-server.ts'
import { type Client, open, refusal } from './socket.ts'

const transcription = 'conversation.item.input_audio_transcription'
const sound = sinePcm(2400, 24_000).toString('base64')
const append = { type: 'input_audio_buffer.append', audio: sound }

async function setUp(t: Test, env: Record<string, string> = {}) {
  const sockets: StubSocket[] = []
  const stub = await startDeepgramStub()
  stub.playSocket((socket, request) => {
    sockets.push(socket)
    playListen(socket, queryOf(request), 'ok')
  })
  const models = { stt: ['nova-3'] }
  const vendor = { id: 'vendor', adapter: 'deepgram', baseUrl: stub.url, apiKey: 'k', models }
  const providers = JSON.stringify([vendor])
  const settings = { PARLEY_LOCAL_ENABLED: 'false', PARLEY_WARM_SOCKETS_PER_ROUTE: '0', ...env }
  t.teardown(() => stub.close())
  const parley = await ownServer(t, { PARLEY_PROVIDERS: providers, ...settings })
  const connect = async (query = '') => {
    const client = await open(parley, `/v1/realtime?intent=transcription${query}`, { protocols: [] })
    t.match(await client.take('session.created'), {
      session: { type: 'transcription', object: 'realtime.transcription_session', audio: { input: {} } },
    })
    return client
  }
  return { parley, stub, sockets, connect }
}

const update = (input: object) => ({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
const language = (name: string) => update({ transcription: { language: name } })

async function close(client: Client): Promise<void> {
  client.socket.close()
  await client.closed
}

t.test('if the provider is lost, the socket closes with 1013 without an error event', async (t) => {
  const { connect, sockets } = await setUp(t)
  const client = await connect()
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  sockets[0]!.cut()
  t.equal(await client.closed, 1013)
  t.same(client.frames('error'), [])
  t.match(client.frames(`${transcription}.failed`), [{ item_id: 'item_1', error: { code: 'UPSTREAM' } }])

  const again = await connect()
  again.send(append)
  await again.take('input_audio_buffer.speech_started')
  again.send({ type: 'input_audio_buffer.commit' })
  t.match(await again.take(`${transcription}.completed`), { transcript: /./ }, 'a client that connects again is served')
  await close(again)
})

t.test('if the server stops, the socket closes with 1012 without an error event', async (t) => {
  const { connect, parley } = await setUp(t, { PARLEY_DRAIN_GRACE_MS: '300' })
  const client = await connect()
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  void parley.gateway.stop()
  t.equal(await client.closed, 1012)
  t.same(client.frames('error'), [])
})

t.test('an OpenAI-compatible session without audio is not ended', async (t) => {
  const { connect, stub, sockets } = await setUp(t, { PARLEY_REALTIME_SILENCE_MS: '300' })
  const client = await connect()
  await pause(900)
  client.send(update({ turn_detection: { type: 'server_vad', silence_duration_ms: 200 } }))
  await client.take('session.updated')
  client.send(append)
  const first = await client.take(`${transcription}.completed`)
  t.match(first, { item_id: 'item_1', transcript: /./ }, 'the utterance ends although no silence came')
  await until('the stream at the provider to end', () => stub.openSockets === 0)
  const before = sockets.length
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  t.ok(sockets.length > before, 'the next audio opens another')
  const second = await client.take(`${transcription}.completed`)
  t.match(second, { item_id: 'item_2', transcript: /./ })
  t.match(client.frames('input_audio_buffer.committed'), [{ previous_item_id: null }, { previous_item_id: 'item_1' }])
  t.same(client.frames('error'), [])
  await close(client)
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

t.test('a session can be updated while it receives audio', async (t) => {
  const { connect, sockets, stub } = await setUp(t)
  const client = await connect()
  client.send(language('en'))
  await client.take('session.updated')
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  client.send(language('en'))
  await client.take('session.updated')
  t.equal(sockets.length, 1, 'the same settings change nothing')
  client.send(language('de'))
  t.match(await client.take('session.updated'), {
    session: { audio: { input: { transcription: { language: 'de' } } } },
  })
  t.match(
    await client.take(`${transcription}.completed`),
    { item_id: 'item_1', transcript: /./ },
    'what was said is kept',
  )
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  const languages = stub.seen.flatMap((request) => queryOf(request).get('language') ?? [])
  t.same([languages[0], languages.at(-1)], ['en', 'de'])
  t.same(client.frames('error'), [])
  await close(client)
})

t.test('an error of the client causes one error event, and the session goes on', async (t) => {
  const { connect } = await setUp(t)
  const client = await connect()
  const mistakes: [object | Buffer, object][] = [
    [
      { ...update({ transcription: { model: 'none' } }), event_id: 'mine' },
      { code: 'INVALID_CONFIG', event_id: 'mine' },
    ],
    [language('xx-never-spoken'), { code: 'UNSUPPORTED_LANGUAGE' }],
    [
      { type: 'session.update', session: { type: 'realtime' } },
      { code: 'INVALID_FRAME', message: /type/ },
    ],
    [{ type: 'input_audio_buffer.commit' }, { code: 'input_audio_buffer_commit_empty' }],
    [
      { type: 'input_audio_buffer.append', audio: '!' },
      { code: 'INVALID_FRAME', message: /base64/ },
    ],
  ]
  for (const [event, error] of mistakes) {
    client.send(event)
    t.match(await client.take('error'), { error: { type: 'invalid_request_error', ...error } })
  }
  for (let i = 0; i < 50; i++) client.sendBytes(Buffer.alloc(480))
  client.send(append)
  await client.take('input_audio_buffer.speech_started')
  t.equal(client.frames('error').length, mistakes.length + 1, 'audio in binary frames is one mistake')
  client.send({ type: 'input_audio_buffer.commit' })
  await client.take(`${transcription}.completed`)
  await close(client)
})

t.test('a model that is not served is refused before the upgrade', async (t) => {
  const { parley, connect } = await setUp(t)
  const headers = { authorization: `Bearer ${parley.key}` }
  const { status, code } = await refusal(parley, '/v1/realtime?intent=transcription&model=whisper-9', {
    protocols: [],
    headers,
  })
  t.ok(status === 400 || status === 404, `${status}`)
  t.match(code, /^(invalid_parameter|not_found|model_not_found)$/)
  for (const model of ['auto', 'vendor/nova-3', 'vendor:nova-3']) await close(await connect(`&model=${model}`))
})

t.test('clients of the beta protocol still get the beta events', async (t) => {
  const { connect } = await setUp(t)
  const client = await connect()
  client.send({ type: 'transcription_session.update', session: { turn_detection: null, input_audio_format: 'pcm16' } })
  await client.take('transcription_session.updated')
  client.send(append)
  client.send({ type: 'input_audio_buffer.commit' })
  await client.take(`${transcription}.completed`)
  t.equal(client.frames('conversation.item.created').length, 1)
  t.same([...client.frames('conversation.item.added'), ...client.frames('conversation.item.done')], [])
  await close(client)
})

t.test('a client secret opens one socket, with the session settings of the secret', async (t) => {
  const { parley } = await setUp(t)
  const input = {
    format: { type: 'audio/pcmu' },
    transcription: { model: 'auto', language: 'de' },
    turn_detection: null,
  }
  const mint = async (body?: object) => {
    const headers = { authorization: `Bearer ${parley.key}`, ...(body && { 'content-type': 'application/json' }) }
    const request = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) }
    const answer = await judgedFetch(`${parley.url}/v1/realtime/client_secrets`, request)
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  }
  const session = { type: 'transcription', audio: { input } }
  const { status, json } = await mint({ expires_after: { anchor: 'created_at', seconds: 600 }, session })
  t.equal(status, 200)
  t.match(json, { value: /^ek_v1\./, session: { ...session, object: 'realtime.transcription_session', id: /^sess_./ } })
  const leftS = (json['expires_at'] as number) - Date.now() / 1000
  t.ok(leftS > 50 && leftS <= 60, `${leftS} s`)
  const value = json['value'] as string

  const address = '/v1/realtime?intent=transcription'
  const browser = { protocols: ['realtime', `openai-insecure-api-key.${value}`], headers: { origin: parley.url } }
  const client = await open(parley, address, browser)
  t.match(await client.take('session.created'), { session })
  await close(client)
  t.same(await refusal(parley, address, browser), { status: 401, code: 'authentication_failed' }, 'it is good once')

  const { json: plain } = await mint()
  t.match(plain, { session: { audio: { input: { format: { type: 'audio/pcm', rate: 24000 } } } } })
  const headers = { authorization: `Bearer ${plain['value'] as string}` }
  const app = await open(parley, address, { protocols: [], headers })
  await app.take('session.created')
  await close(app)

  const prompt = 'p'.repeat(1100)
  const long = await mint({ session: { ...session, audio: { input: { transcription: { prompt } } } } })
  t.match(long, { status: 400, json: { error: { code: 'invalid_parameter', param: '/session' } } })
  t.match(await mint({ session: { type: 'realtime' } }), { status: 400, json: { error: { param: '/session/type' } } })
})
