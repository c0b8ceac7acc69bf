/**
 * Tests joins of sessions at the media channel `sessionMedia`: the token, a newer socket that replaces the user's older
 * socket, and a lost socket.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createEphemeralTokens } from '../../domain/access/ephemeral.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { createTransportTokens } from '../../domain/sessions/transport-token.ts'
import { caller } from '../domain/fakes.ts'
import { overEngines } from '../engine/engines.ts'
import { until } from '../process/machine.ts'
import { refused } from '../ws/harness.ts'
import { address, fatal, protocol, type Served, serve, sessionId, settle } from './media-harness.ts'

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

type Opening = { token?: string; path?: string; protocols?: string[]; headers?: Record<string, string> }

overEngines(t, (t) => {
  /** Returns the status, code and Retry-After with which the upgrade is refused. */
  async function refusal({ server, token: own }: Served, opening: Opening = {}) {
    const { token = own, path = address, headers = {} } = opening
    const protocols = opening.protocols ?? [protocol, `service.ephemeral.${token}`]
    const {
      status,
      body,
      headers: answered,
    } = await refused(server.url.replace('http', 'ws') + path, protocols, { headers })
    t.type(body['requestId'], 'string')
    return [status, body['code'], ...(answered['retry-after'] === undefined ? [] : [answered['retry-after']])]
  }

  t.test('a client that sends its token in Authorization may omit the subprotocol', async (t) => {
    const { open, token } = await serve(t)
    const client = await open({ headers: { authorization: `Bearer ${token}` }, protocols: [] })
    await client.take('ready')
    t.equal(client.socket.protocol, '')
  })

  t.test('an organization is counted as active as soon as its session token is accepted', async (t) => {
    const served = await serve(t)
    const { owners } = served
    owners.see('org_other')
    await refusal(served, { token: 'wrong' })
    t.notOk(owners.areSeveral)
    await served.open()
    t.ok(owners.areSeveral)
  })

  t.test('a wrong session token is refused with 401', async (t) => {
    const served = await serve(t)
    const { claims, tokens, token, server } = served
    const other = createTransportTokens('n'.repeat(32)).mint(claims)
    const [version, payload = '', signature = ''] = token.split('.')
    const masterKey = 'm'.repeat(32)
    const used = { spend: () => Promise.resolve(true) }
    const clock = { nowMs: () => 0, monotonicMs: () => 0, after: () => () => {} }
    const keys = { find: () => Promise.resolve(null) }
    const ephemeral = createEphemeralTokens({ masterKey, used, clock, keys, tokenId: () => 'x' }).mint(caller()).value
    const forOther = tokens.mint({ ...claims, sessionId: 'another' })
    const wrong = { none: '', other, ephemeral, forOther, long: `v1.${'a'.repeat(5000)}.${signature}` }
    for (const [title, value] of Object.entries({
      ...wrong,
      changed: `${version}.${payload.slice(0, -2)}AA.${signature}`,
      key: 'sk_live_0123456789012345678901234567890123456789',
    })) {
      t.same(await refusal(served, { token: value }), [401, 'UNAUTHORIZED'], title)
      const headers = { authorization: `Bearer ${value}` }
      t.same(await refusal(served, { protocols: [protocol], headers }), [401, 'UNAUTHORIZED'], title)
    }
    t.same(await refusal(served, { path: '/v1/sessions/another/media' }), [401, 'UNAUTHORIZED'])
    t.same(served.sessions.admitted, [])
    const answer = await fetch(`${server.url}${address}`, { headers: { authorization: `Bearer ${token}` } })
    t.equal(answer.status, 400, 'the address of a socket takes no plain request')
  })

  t.test('a session token with any other character at any position is refused with 401', async (t) => {
    const served = await serve(t)
    const { token } = served
    const accepted: string[] = []
    const isRefused = async (changed: string) => (await refusal(served, { token: changed }))[0] === 401
    for (let at = 0; at < token.length; at++) {
      // The last character has two unused bits, so another last character may stand for the same signature.
      const characters = at === token.length - 1 ? base64url : base64url.slice(0, 2)
      for (const other of characters)
        if (other !== token[at] && !(await isRefused(token.slice(0, at) + other + token.slice(at + 1))))
          accepted.push(`${other} in place ${at}`)
    }
    t.same(accepted, [])
    t.same(served.sessions.admitted, [])
  })

  t.test('a join is refused with 401 if the API key that created the session was revoked', async (t) => {
    const served = await serve(t)
    const { client } = await served.join()
    served.lives.clear()
    t.same(await refusal(served), [401, 'UNAUTHORIZED'])
    await settle(client)
    t.equal(client.frames('error').length, 0, 'a session that runs goes on')
  })

  t.test('a disabled organization cannot open a media channel', async (t) => {
    const served = await serve(t)
    const { client } = await served.join()
    served.owner.organization.isDisabled = true
    t.same(await refusal(served), [403, 'ORGANIZATION_DISABLED'])
    await settle(client)
    t.equal(client.frames('error').length, 0, 'a session that runs goes on')
  })

  t.test('a client without Authorization must send the subprotocol', async (t) => {
    const served = await serve(t)
    const token = `service.ephemeral.${served.token}`
    t.same(await refusal(served, { protocols: [token] }), [400, 'VALIDATION_ERROR'])
    t.same(await refusal(served, { protocols: ['service.realtime.v1', token] }), [400, 'VALIDATION_ERROR'])
  })

  t.test('the allowed origins of the API key apply to the media channel', async (t) => {
    const origin = 'https://app.example'
    const anywhere = await serve(t)
    const client = await anywhere.open(anywhere.browser({ headers: { origin } }))
    await client.take('ready')
    const bounded = await serve(t, { allowedOrigins: [origin] })
    for (const headers of [{ origin }, { origin: bounded.server.url }, {}]) {
      const allowed = await bounded.open(bounded.browser({ headers: headers }))
      await allowed.take('ready')
    }
    const foreign = await refusal(bounded, { headers: { origin: 'https://evil.example' } })
    t.same(foreign, [403, 'ORIGIN_NOT_ALLOWED'])
  })

  t.test('each refusal to join a session has its HTTP status and its error code', async (t) => {
    const served = await serve(t)
    for (const [fault, expected] of [
      [new ResourceFault({ kind: 'call_not_live' }), [409, 'CALL_NOT_LIVE']],
      [new ResourceFault({ kind: 'not_found' }), [404, 'NOT_FOUND']],
      [new Fault({ kind: 'overloaded' }, { retryAfterS: 3 }), [503, 'SERVICE_UNAVAILABLE', '3']],
      [
        new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 }),
        [429, 'CONCURRENCY_EXHAUSTED', '1'],
      ],
    ] as const) {
      served.sessions.refusal = fault
      t.same(await refusal(served), expected)
    }
  })

  t.test('if a join fails after the socket is open, the socket closes with an error frame', async (t) => {
    const { open, sessions, logged } = await serve(t)
    sessions.joinRefusal = new Fault({ kind: 'too_many_at_once', limit: 'organization' })
    t.same(await fatal(await open()), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
    for (const passing of [
      new Fault({ kind: 'overloaded' }),
      new Fault({ kind: 'store_unreachable' }),
      new ResourceFault({ kind: 'call_not_live' }),
    ]) {
      sessions.joinRefusal = passing
      t.same(await fatal(await open()), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
    }
    t.same(logged, [])
    sessions.joinRefusal = new Error('a defect')
    const client = await open()
    t.same(await fatal(client), { code: 'INTERNAL', fatal: true, closed: 1011 })
    t.same(client.received.at(-1)?.frame, { type: 'end', reason: 'pipeline_failed' }, 'it is over')
    t.match(logged, [{ err: { message: 'a defect' } }])
  })

  t.test("a user's newest socket replaces the older socket, which gets REPLACED", async (t) => {
    const { join, sessions } = await serve(t)
    const { client: first, sink } = await join()
    const { client: second, ready } = await join()
    t.same(await fatal(first), { code: 'REPLACED', fatal: true, closed: 1008 })
    t.equal(ready['resumed'], true)
    t.same(second.received.map(({ frame }) => frame?.type).slice(0, 2), ['ready', 'state'])
    await sleep(50)
    t.same(sink.calls, [['back', false]], 'the session never lost its socket')
    first.socket.terminate()
    second.send({ type: 'user_message', text: 'still here' })
    await second.take('user_message_echo')
    t.equal(sessions.sink, sink)
  })

  t.test('another user of a session does not replace the first user', async (t) => {
    const served = await serve(t)
    const { client } = await served.join()
    const token = served.tokens.mint({ ...served.claims, identity: 'user_2' })
    const other = await served.open({ headers: {}, protocols: [protocol, `service.ephemeral.${token}`] })
    await other.take('ready')
    await settle(client)
    t.equal(client.frames('error').length, 0)
  })

  t.test('a lost socket does not end the session, and a new socket resumes it', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    sink.transport.mark('a:100')
    client.socket.terminate()
    await client.closed
    await until('the session has lost its socket', () => sink.calls.length > 0)
    t.same(sink.calls, [['gone']])
    // Frames from the time without a socket are dropped.
    sink.transport.mark('a:200')
    sink.transport.notify({ type: 'state', state: 'thinking' })
    const again = await join()
    t.match(again.ready, { resumed: true, sessionId })
    t.same(
      again.client.received.map(({ frame }) => frame),
      [again.ready, { type: 'state', value: 'listening' }],
    )
    again.client.send({ type: 'overrides', overrides: {} })
    t.match(await again.client.take('error'), { code: 'OVERRIDES_TOO_LATE', fatal: false })
  })

  t.test('if a socket closes before it has joined, the session begins and waits for another socket', async (t) => {
    const { open, sessions } = await serve(t)
    let release = () => {}
    sessions.gate = new Promise((resolve) => {
      release = resolve
    })
    const client = await open()
    client.socket.terminate()
    await client.closed
    await sleep(50)
    release()
    await sleep(50)
    t.same(sessions.sink?.calls, [['gone']], 'the session has begun, and waits for another one')
  })

  t.test('if two sockets of a user join at once, the newer socket stays open', async (t) => {
    const { open, sessions } = await serve(t)
    const gates: (() => void)[] = []
    sessions.seat = {
      join: async () => {
        await new Promise<void>((resolve) => gates.push(resolve))
        return { resumed: false, unserved: [], begin: (transport) => (sessions.sink ??= sessions.make(transport)) }
      },
    }
    const [older, newer] = [await open(), await open()]
    gates[1]?.()
    await newer.take('ready')
    gates[0]?.()
    t.same(await fatal(older), { code: 'REPLACED', fatal: true, closed: 1008 })
    newer.send({ type: 'dtmf', digits: '1' })
    await settle(newer)
    t.same(sessions.sink?.calls, [['dtmf', '1']])
  })

  t.test('if 30 sockets join with one token at once, one stays open and 29 get REPLACED', async (t) => {
    const { open, sessions } = await serve(t)
    const clients = await Promise.all(Array.from({ length: 30 }, () => open()))
    const isOpen = ({ socket }: (typeof clients)[number]) => socket.readyState === socket.OPEN
    await until('29 sockets are closed', () => clients.filter(isOpen).length === 1)
    const [left] = clients.filter(isOpen)
    for (const client of clients)
      if (client !== left) t.same(await fatal(client), { code: 'REPLACED', fatal: true, closed: 1008 })
    left?.send({ type: 'dtmf', digits: '1' })
    if (left) await settle(left)
    const pressed = sessions.sink?.calls.filter(([name]) => name === 'dtmf')
    t.same(pressed, [['dtmf', '1']], 'the session has the socket that stays')
  })

  t.test('if the server stops, a session ends with SHUTTING_DOWN and server_shutdown', async (t) => {
    const { join, server } = await serve(t)
    const { client, sink } = await join()
    const stopped = server.stop()
    t.same(await fatal(client), { code: 'SHUTTING_DOWN', fatal: true, closed: 1012 })
    t.same(client.received.at(-1)?.frame, { type: 'end', reason: 'server_shutdown' })
    t.same(sink.calls, [['gone']])
    await stopped
  })
})
