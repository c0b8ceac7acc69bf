/** Serves the page /try/agent and its media channel. The test acts as the conversation. */
import type { Test } from 'tap'
import type { MediaTransport } from '../../domain/ports/media.ts'
import type { Turn } from '../../domain/records/call.ts'
import type { SessionRequest } from '../../domain/sessions/start.ts'
import { createTransportTokens } from '../../domain/sessions/transport-token.ts'
import { mountInternal } from '../../handlers/internal/surface.ts'
import { linkedRecordings } from '../../handlers/platform/linked-recording.ts'
import { createPublicUrl } from '../../handlers/public-url.ts'
import { mountSession } from '../../handlers/session/surface.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { caller } from '../domain/fakes.ts'
import { mount, operation, start, surface } from '../http/harness.ts'
import { noConsole } from '../http/no-console.ts'
import { FakeSessions, type RecordingSink, sessionId } from './media-harness.ts'

export async function serveAgentPage(t: Test, make: (transport: MediaTransport) => RecordingSink) {
  const sessions = new FakeSessions()
  sessions.make = make
  const tokens = createTransportTokens('m'.repeat(32))
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => t.fail('a logged error', fields) }
  const settings = { host: null, headerPrefix: 'Service', corsOrigins: [], log, count: () => {} }
  const keys = { find: () => Promise.resolve(caller({}, { scopes: ['platform'] })) }
  const wanted: SessionRequest[] = []
  let fault: Error | null = null
  const turns: Turn[] = []
  const claims = { sessionId, identity: 'user_1', organizationId: 'org_1', keyId: 'key_1', expiresAtMs: 0 }
  const tryAgent = {
    agents: { list: () => Promise.resolve([agent]) },
    sessions: {
      start(_: unknown, asked: SessionRequest, publicUrl: string) {
        if (fault !== null) return Promise.reject(fault)
        wanted.push(asked)
        sessions.sink = null
        return Promise.resolve({
          id: sessionId,
          test: false,
          transport: 'websocket' as const,
          token: tokens.mint(claims),
          url: `${publicUrl.replace('http', 'ws')}/v1/sessions/${sessionId}/media`,
          roomName: `room-${sessionId}`,
          identity: 'user_1',
          expiresAtMs: 0,
        })
      },
    },
    calls: { turns: () => Promise.resolve(turns) },
    publicUrlOf: createPublicUrl({ publicUrl: null, host: '127.0.0.1', port: 0, trustedProxies: [] }),
  }
  const internal = mountInternal(settings, {
    readyChecks: [],
    engine: { engine: 'node', reason: null },
    docsFolder: '/nonexistent',
    consoleFolder: '/nonexistent',
    ranking: { failuresMax: 3, openMs: 1000, openMaxMs: 8000, retryAfterMaxMs: 60_000, hedges: false },
    caller: () => caller(),
    mint: () => ({ value: 'v1.x.y', expiresInS: 60, expiresAtMs: 0 }),
    preview: () => {
      throw new Error('nothing is routed here')
    },
    isOpen: false,
    contracts: [],
    tryAgent,
    simulator: null,
    carrier: { readers: new Map(), events: { received: () => Promise.resolve() }, countIgnored: () => {} },
    messages: { readers: new Map(), receive: () => Promise.resolve('taken') },
    console: { isEnabled: false, handlers: noConsole },
    recordings: linkedRecordings(settings, { linked: () => Promise.reject(new Error('no recording here')) }),
  })
  const server = await start([...internal, tapMount], {
    sockets: [
      mountSession(settings, {
        tokens,
        keys,
        sessions,
        owners: new Owners(),
        watchGrant: () => () => {},
        clock: systemClock,
      }),
    ],
  })
  t.teardown(() => server.stop())
  /** Makes the start of the next sessions fail. */
  const fail = (how: Error) => {
    fault = how
  }
  return { url: server.url, sessions, wanted, turns, fail }
}

const agent = {
  id: 'agent_1',
  organizationId: 'org_1',
  test: false,
  settings: { name: 'Front desk', systemPrompt: 'Be brief.', intent: { language: 'en' } },
  webhooks: {},
  version: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
}

/**
 * The script for an audio worklet, which passes audio on and keeps it. The pages' policy allows only scripts from this
 * origin.
 */
const tapScript = `registerProcessor('tap', class extends AudioWorkletProcessor {
  process([input], [output]) {
    if (input[0]) this.port.postMessage(input[0].slice())
    if (input[0]) output[0].set(input[0])
    return true
  }
})`
const responses = { '200': { types: ['text/javascript'], headers: [] } }
const tapMount = mount(surface('tap', operation('tap', 'get', '/tap.js', { responses })), {
  tap: () => ({ status: 200, body: Buffer.from(tapScript) }),
})
