/** Opens the media channel over real sockets. Its sessions record the method calls that they get from the channel. */
import type { Test } from 'tap'
import type { JoinedSession, SeatAdmission, SessionSeat } from '../../domain/calls/live/seats.ts'
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { SessionOverrides } from '../../domain/sessions/overrides.ts'
import { createTransportTokens, type TransportClaims } from '../../domain/sessions/transport-token.ts'
import { mountSession } from '../../handlers/session/surface.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { TestClock } from '../clock.ts'
import { caller } from '../domain/fakes.ts'
import { start } from '../http/harness.ts'
import { Client, type Opening, open, type TextFrame } from '../realtime/socket.ts'

export const sessionId = '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b'
export const protocol = 'service.session.v1'
export const address = `/v1/sessions/${sessionId}/media`

/** Records every method call that it gets from the channel, as `[name, ...arguments]`. */
export class RecordingSink implements MediaSink {
  readonly calls: unknown[][] = []
  samplesCount = 0
  readonly transport: MediaTransport
  onAudio: (samples: Int16Array) => void = () => {}
  constructor(transport: MediaTransport) {
    this.transport = transport
  }
  audio(samples: Int16Array) {
    this.samplesCount += samples.length
    this.onAudio(samples)
  }
  played(mark: string) {
    this.calls.push(['played', mark])
  }
  cleared(mark: string | null, playedMs: number) {
    this.calls.push(['cleared', mark, playedMs])
  }
  userMessage(text: string) {
    this.calls.push(['userMessage', text])
  }
  contextualUpdate(text: string) {
    this.calls.push(['contextualUpdate', text])
  }
  dtmf(digits: string) {
    this.calls.push(['dtmf', digits])
  }
  toolResult(id: string, result: string, isError: boolean) {
    this.calls.push(['toolResult', id, result, isError])
    return id === 'call_1'
  }
  gone() {
    this.calls.push(['gone'])
  }
  back(transport: MediaTransport) {
    this.calls.push(['back', transport === this.transport])
    ;(this as { transport: MediaTransport }).transport = transport
    transport.notify({ type: 'state', state: 'listening' })
  }
  hangUp() {
    this.calls.push(['hangUp'])
    this.transport.close('user_hangup', null)
  }
}

export class FakeSessions implements SeatAdmission {
  seat: Partial<SessionSeat> = {}
  admitted: TransportClaims[] = []
  overrides: SessionOverrides[] = []
  sink: RecordingSink | null = null
  /** If these are set, `admit` rejects with `refusal`, and `join` with `joinRefusal`. */
  refusal: Error | null = null
  joinRefusal: Error | null = null
  unserved: JoinedSession['unserved'] = []
  /** Each join waits for this promise. */
  gate: Promise<void> = Promise.resolve()
  make: (transport: MediaTransport) => RecordingSink = (transport) => new RecordingSink(transport)

  admit(claims: TransportClaims): Promise<SessionSeat> {
    if (this.refusal !== null) return Promise.reject(this.refusal)
    this.admitted.push(claims)
    return Promise.resolve({
      sessionId: claims.sessionId,
      identity: claims.identity,
      sampleRate: 16_000,
      recording: true,
      maxDurationSeconds: 3600,
      agentName: 'Front desk',
      clientOverrides: [],
      isJoined: this.sink !== null,
      join: (overrides) => this.#join(overrides),
      ...this.seat,
    })
  }

  async #join(overrides: SessionOverrides): Promise<JoinedSession> {
    await this.gate
    if (this.joinRefusal !== null) throw this.joinRefusal
    this.overrides.push(overrides)
    const joined = { resumed: false, unserved: this.unserved, begin: this.#begin }
    return Object.defineProperty(joined, 'resumed', { get: () => this.sink !== null })
  }

  #begin = (transport: MediaTransport): MediaSink => {
    if (this.sink === null) this.sink = this.make(transport)
    else this.sink.back(transport)
    return this.sink
  }
}

export type Served = Awaited<ReturnType<typeof serve>>

export async function serve(t: Test, policy: Parameters<typeof caller>[0] = {}) {
  const clock = new TestClock()
  const tokens = createTransportTokens('m'.repeat(32))
  const sessions = new FakeSessions()
  const lives = new Set(['key_1'])
  const logged: unknown[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void logged.push(fields) }
  const owner = caller(policy, { scopes: ['platform'] })
  const owners = new Owners()
  const keys = { find: (_: string, keyId: string) => Promise.resolve(lives.has(keyId) ? owner : null) }
  const settings = { host: null, headerPrefix: 'Service', corsOrigins: [], log, count: () => {} }
  const server = await start([], {
    sockets: [mountSession(settings, { tokens, keys, sessions, owners, watchGrant: () => () => {}, clock })],
    requestId: systemIds.request,
  })
  t.teardown(() => server.drain())
  const claims = { sessionId, identity: 'user_1', organizationId: 'org_1', keyId: 'key_1', expiresAtMs: 0 }
  const token = tokens.mint(claims)
  const target = { url: server.url, key: token }
  const browser = (more: Opening = {}): Opening => ({
    headers: {},
    protocols: [protocol, `service.ephemeral.${token}`],
    ...more,
  })
  return {
    server,
    clock,
    sessions,
    lives,
    owner,
    owners,
    logged,
    tokens,
    claims,
    token,
    target,
    browser,
    open: (opening: Opening = browser()): Promise<Client> => open(target, address, opening),
    /** Opens a socket and joins the session with it. */
    join: async (): Promise<{ client: Client; ready: TextFrame; sink: RecordingSink }> => {
      const client = await open(target, address, browser())
      const ready = await client.take('ready')
      return { client, ready, sink: sessions.sink! }
    },
  }
}

/** Waits until the channel has handled all earlier frames: a ping is answered after them. */
export async function settle(client: Client): Promise<void> {
  client.send({ type: 'ping' })
  await client.take('pong')
}

/** Returns the error frame and the close code. */
export async function fatal(client: Client): Promise<{ code: unknown; fatal: unknown; closed: number }> {
  const frame = await client.take('error')
  return { code: frame['code'], fatal: frame['fatal'], closed: await client.closed }
}

export function silence(ms: number, rateHz = 16_000): Uint8Array {
  return new Uint8Array((rateHz * ms * 2) / 1000)
}
