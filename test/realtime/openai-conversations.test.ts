/**
 * Clients of OpenAI open /v1/realtime for conversations too. Such a socket opens, because the clients show no reason
 * for a refused upgrade, and then an error says where conversations are available.
 */
import t from 'tap'
import { isConversationModel } from '../../handlers/realtime-conversations.ts'
import { judgedFetch } from '../oracle.ts'
import { ownServer, serverWith } from '../server.ts'
import { type Client, loopback, open, refusal, type Target } from './socket.ts'

const parley = await serverWith({ PARLEY_PROVIDERS: loopback })

const isOver = async (client: Client) => {
  const reason = new Promise<string>((resolve) => client.socket.once('close', (_, text) => resolve(text.toString())))
  return { code: await client.closed, reason: await reason }
}

t.test('a socket for a conversation opens, sends one error event, and closes with 1008', async (t) => {
  const queries = ['intent=conversation', 'model=gpt-realtime', 'intent=conversation&model=auto']
  for (const query of [...queries, 'model=openai/gpt-4o-mini-realtime-preview-2024-12-17']) {
    const client = await open(parley, `/v1/realtime?${query}`, { protocols: [] })
    client.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.' } })
    const { code, reason } = await isOver(client)
    t.equal(code, 1008, query)
    t.equal(reason, 'only transcription; a conversation is POST /v1/sessions')
    t.match(
      client.received.map(({ frame }) => frame),
      [
        {
          type: 'error',
          event_id: 'event_1',
          error: {
            type: 'invalid_request_error',
            code: 'INVALID_CONFIG',
            message:
              'This socket only transcribes speech. For a conversation, start a session of an agent: POST /v1/sessions.',
          },
        },
      ],
      query,
    )
    t.equal(client.received.length, 1, query)
  }
})

t.test('a socket for a conversation without a valid key is refused before the upgrade', async (t) => {
  const headers = { authorization: `Bearer sk_live_${'x'.repeat(40)}` }
  const refused = await refusal(parley, '/v1/realtime?model=gpt-realtime', { protocols: [], headers })
  t.same(refused, { status: 401, code: 'authentication_failed' })
})

t.test('a token of POST /v1/realtime/sessions opens a socket, which refuses a conversation', async (t) => {
  const { json } = await mint(parley, 'sessions')
  const { value } = json['client_secret'] as { value: string }
  const opening = { protocols: ['realtime', `openai-insecure-api-key.${value}`], headers: { origin: parley.url } }
  t.equal((await isOver(await open(parley, '/v1/realtime?model=gpt-realtime', opening))).code, 1008)
  t.equal((await refusal(parley, '/v1/realtime', opening)).status, 401, 'the token is spent')
})

t.test("if an alias maps a conversation model's name to another model, the socket transcribes", async (t) => {
  const aliased = await ownServer(t, { PARLEY_ALIASES: JSON.stringify({ 'gpt-realtime': 'auto' }) })
  const client = await open(aliased, '/v1/realtime?model=gpt-realtime', { protocols: [] })
  t.match(await client.take('session.created'), { session: { type: 'transcription' } })
  client.socket.close()
  await client.closed
})

t.test('tokens for conversations are refused, and the hint names POST /v1/sessions', async (t) => {
  const hint = /POST \/v1\/sessions\.$/
  t.match(await mint(parley, 'sessions', { model: 'gpt-realtime', voice: 'marin', modalities: ['audio'] }), {
    status: 400,
    json: { error: { code: 'invalid_parameter', param: '/model', hint } },
  })
  const session = { type: 'realtime', model: 'gpt-realtime' }
  t.match(await mint(parley, 'client_secrets', { session }), {
    status: 400,
    json: { error: { code: 'invalid_parameter', param: '/session/type', hint } },
  })
  for (const body of [undefined, {}, { model: 'gpt-4o-transcribe', input_audio_format: 'pcm16' }])
    t.equal((await mint(parley, 'sessions', body)).status, 200)
})

t.test("OpenAI's conversation models are distinguished from its transcription models by name", (t) => {
  const names = ['gpt-realtime', 'gpt-realtime-mini', 'openai:gpt-realtime-2025-08-28', 'gpt-4o-realtime-preview']
  for (const name of names) t.ok(isConversationModel(name), name)
  const others = ['auto', 'gpt-4o-transcribe', 'gpt-realtime-whisper', 'gpt-realtime-translate', 'scribe_v2_realtime']
  for (const name of [...others, 'voxtral-mini-transcribe-realtime-2602']) t.notOk(isConversationModel(name), name)
  t.end()
})

async function mint({ url, key }: Target, path: 'sessions' | 'client_secrets', body?: object) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
  const request = { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await judgedFetch(`${url}/v1/realtime/${path}`, request)
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
}
