/**
 * Tests streams that are refused before or after the upgrade: the error code, the close code, and no effect on other
 * sockets.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { createEphemeralTokens } from '../../domain/access/ephemeral.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import { overEngines } from '../engine/engines.ts'
import { judgedFetch } from '../oracle.ts'
import { ownServer, serverWith } from '../server.ts'
import { serverInTime } from '../time/server.ts'
import { type Client, loopback, loopbackModel, open, refusal, start, subprotocol, type Target } from './socket.ts'

const [stt, tts] = ['/v1/transcribe/stream', '/v1/synthesize/stream']
const readerTimeoutMs = 2000
const masterKey = 'a master key of thirty-two characters'
overEngines(t, async (t) => {
  const settings = { PARLEY_PROVIDERS: loopback, PARLEY_MASTER_KEY: masterKey }
  const parley = await serverWith(settings)
  /** A server on a test clock, for frames that come too late. */
  const { clock, ...inTime } = await serverInTime(t, { ...settings, PARLEY_REALTIME_CONFIG_MS: '500' })

  const echoed = { model: loopbackModel }

  async function fails(t: Test, client: Client, code: RealtimeErrorCode, what: string, message = /./): Promise<void> {
    const closeCode = await client.closed
    const { closeCode: expected, retryable } = realtimeErrors[code]
    t.match(client.received.at(-1)?.frame, { type: 'error', code, retryable, requestId: /^req_/, message }, what)
    t.equal(closeCode, expected, `${what}: close code`)
  }

  t.test('an invalid first frame is answered with an error and closes the socket', async (t) => {
    const config = (more: object) => JSON.stringify({ type: 'config', ...more })
    const cases: [what: string, first: string | Buffer, message: RegExp][] = [
      ['binary', Buffer.alloc(320), /^Audio came before the config|text frames alone/],
      ['not JSON', '{"type":', /not valid JSON/],
      ['no object', '[]', /JSON object/],
      ['another type', '{"type":"end"}', /^A frame of type end came before the config\.$/],
      ['an unknown type', '{"type":"start"}', /\/type must be one of config/],
      ['an unknown field', config({ samplerate: 8000 }), /samplerate/],
      ['an unknown encoding', config({ encoding: 'pcm_s12' }), /encoding/],
      [
        'an unknown model',
        config({ model: 'nobody/nothing' }),
        /No (stt|tts) provider here serves a model of this name/,
      ],
    ]
    for (const address of [stt, tts])
      await Promise.all(
        cases.map(async ([what, first, message]) => {
          const client = await open(parley, address)
          client.socket.send(first)
          await fails(t, client, 'INVALID_CONFIG', `${address}: ${what}`, message)
        }),
      )
    for (const address of [stt, tts]) {
      const late = await open(inTime, address)
      await clock.during(late.closed)
      await fails(t, late, 'INVALID_CONFIG', `${address}: late`, /^No config came within 0\.5 s\.$/)
    }
    const unvoiced = await open(parley, tts)
    unvoiced.send({ type: 'config', voice: 'nobody', language: 'en' })
    await fails(t, unvoiced, 'VOICE_NOT_FOUND', 'an unknown voice')
    const hasty = await open(parley, tts)
    for (const frame of [{ type: 'config', voice: 'nobody', language: 'en' }, { type: 'end' }]) hasty.send(frame)
    await fails(t, hasty, 'VOICE_NOT_FOUND', 'an unknown voice, and the end before it is known')
  })

  t.test('the socket closes if no config arrives within five seconds or the configured time', async (t) => {
    const usual = await serverInTime(t, settings)
    for (const address of [stt, tts]) {
      const late = await open(usual, address)
      await usual.clock.during(late.closed)
      await fails(t, late, 'INVALID_CONFIG', address, /^No config came within 5 s\.$/)
    }
  })

  t.test('an invalid frame after the first is answered with an error and closes the socket', async (t) => {
    const after = (address: string, ...frames: (object | Buffer)[]) => afterAt(parley, address, ...frames)
    const afterAt = async (target: Target, address: string, ...frames: (object | Buffer)[]) => {
      const client = await start(target, address, echoed)
      for (const frame of frames) client.socket.send(frame instanceof Buffer ? frame : JSON.stringify(frame))
      return client
    }
    const end = { type: 'end' }
    const text = (value: string) => ({ type: 'text', text: value })
    await fails(
      t,
      await after(stt, { type: 'config' }),
      'INVALID_CONFIG',
      'a second config',
      /a second one is not taken/,
    )
    await fails(t, await after(stt, text('hello')), 'INVALID_FRAME', 'text for recognition')
    await fails(t, await after(tts, Buffer.alloc(320)), 'INVALID_FRAME', 'audio for speech')
    await fails(t, await after(tts, text('Hello. '.repeat(2000)), end, text('late')), 'INVALID_FRAME', 'text after end')
    await fails(t, await after(tts, text('a'.repeat(20_001))), 'TEXT_TOO_LONG', '20,001 characters')
    await fails(t, await after(tts, text('a\u0000b')), 'INVALID_TEXT', 'a control character')
    for (const [address, frame, code] of [
      [stt, Buffer.alloc(320), 'AUDIO_TIMEOUT'],
      [tts, text('half a'), 'TEXT_TIMEOUT'],
    ] as const) {
      const client = await afterAt(inTime, address, frame)
      await clock.during(client.closed)
      await fails(t, client, code, 'no more comes')
    }

    const odd = await after(stt, Buffer.alloc(321), Buffer.alloc(318), Buffer.alloc(1), end)
    t.equal(await odd.closed, 1000, 'samples may be cut anywhere')
    t.match(odd.frames('end'), [{ usage: { durationMs: 20 } }])
  })

  t.test('a frame of 10 MB closes its socket, and another socket goes on', async (t) => {
    const other = await start(parley, stt, echoed)
    const client = await start(parley, stt, echoed)
    client.sendBytes(Buffer.alloc(10 * 1024 * 1024))
    t.equal(await client.closed, 1006)
    other.sendBytes(Buffer.alloc(320))
    t.match(await other.take('transcript'), { isFinal: false })
    other.send({ type: 'end' })
    t.equal(await other.closed, 1000)
  })

  t.test('a client that stops reading is disconnected', async (t) => {
    // A test clock would wait for pending writes, and here a write waits for its reader, so this server runs in real
    // time.
    const server = await ownServer(t, { ...settings, PARLEY_LIMITS_READER_TIMEOUT_MS: String(readerTimeoutMs) })
    const client = await start(server, tts, { ...echoed, encoding: 'pcm_f32le', sampleRate: 48_000 })
    client.send({ type: 'text', text: `${'Nobody listens to this. '.repeat(400)}` })
    client.socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 2 * readerTimeoutMs))
    client.socket.resume()
    await fails(t, client, 'BACKPRESSURE', 'slow')
  })

  t.test('an upgrade without valid credentials, origin or subprotocol is refused', async (t) => {
    const mint = async () => {
      const headers = { authorization: `Bearer ${parley.key}`, 'content-type': 'application/json' }
      const answer = await judgedFetch(`${parley.url}/v1/realtime/sessions`, { method: 'POST', headers, body: '{}' })
      const { client_secret: secret } = (await answer.json()) as { client_secret: { value: string } }
      return secret.value
    }
    const browser = (token: string, origin = parley.url) => ({
      protocols: [subprotocol, `service.ephemeral.${token}`],
      headers: { origin },
    })
    const unauthenticated = { status: 401, code: 'authentication_failed' }
    t.same(await refusal(parley, stt, { headers: {} }), unauthenticated, 'no key')
    t.same(await refusal(parley, stt, { headers: { authorization: 'Bearer sk_live_wrong' } }), unauthenticated)
    const invalid = { status: 400, code: 'invalid_parameter' }
    t.same(await refusal(parley, stt, { protocols: [], headers: {} }), invalid, 'no subprotocol and no key')
    t.same(await refusal(parley, stt, { protocols: ['service.realtime.v2'] }), invalid, 'another subprotocol')
    t.equal((await refusal(parley, stt, { protocols: [] })).status, 101, 'a key needs no subprotocol')

    const token = await mint()
    const foreign = { status: 403, code: 'origin_not_allowed' }
    t.same(await refusal(parley, stt, browser(token, 'https://elsewhere.example')), foreign, 'a foreign page')
    const client = await open(parley, stt, browser(token))
    t.equal(client.socket.protocol, subprotocol, 'the refusal has not used the token up, and it is not echoed')
    client.socket.close()
    await client.closed
    t.same(await refusal(parley, stt, browser(token)), unauthenticated, 'a token again')
    t.same(await refusal(parley, stt, browser(expired(await mint()))), unauthenticated, 'an expired token')
  })

  t.test('a language without a provider is refused as UNSUPPORTED_LANGUAGE', async (t) => {
    // The loopback engine accepts any language, so this server has another provider.
    const server = await serverWith()
    for (const address of [stt, tts]) {
      const client = await open(server, address)
      client.send({ type: 'config', language: 'tlh' })
      await fails(t, client, 'UNSUPPORTED_LANGUAGE', address)
    }
  })

  t.test('if the engine has no free stream, the socket is closed as RATE_LIMITED', async (t) => {
    // A busy machine needs more than the default time to load the engine.
    const server = await ownServer(t, { PARLEY_LOCAL_STT_STREAMS_MAX: '1', PARLEY_REALTIME_OPEN_MS: '60000' })
    const first = await start(server, stt)
    const second = await open(server, stt)
    second.send({ type: 'config' })
    await fails(t, second, 'RATE_LIMITED', 'no room', /busy/)
    first.send({ type: 'end' })
    t.equal(await first.closed, 1000)
    await start(server, stt).then(({ socket }) => socket.close())
  })

  t.test('without a provider that streams, the upgrade is refused with 503', async (t) => {
    const server = await serverWith({ PARLEY_LOCAL_ENABLED: 'false' })
    for (const address of [stt, tts])
      t.same(await refusal(server, address, {}), { status: 503, code: 'provider_unavailable' }, address)
  })
})

/** Returns the token as if the server had made it 61 seconds ago, so it has expired. */
function expired(token: string): string {
  const { org, key } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    org: string
    key: string
  }
  type Deps = Parameters<typeof createEphemeralTokens>[0]
  const { mint } = createEphemeralTokens({
    masterKey,
    clock: { nowMs: () => Date.now() - 61_000 },
    tokenId: randomUUID,
  } as unknown as Deps)
  return mint({ organization: { id: org }, keyId: key } as Parameters<typeof mint>[0]).value
}
