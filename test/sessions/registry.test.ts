import t from 'tap'
import { createLocalLimits } from '../../domain/access/local-limits.ts'
import type { Call } from '../../domain/calls/call.ts'
import type { MediaTransport } from '../../domain/conversation/media.ts'
import { type Conversation, type LiveSessionDeps, SessionRegistry } from '../../domain/sessions/live-sessions.ts'
import { bench, caller } from '../domain/fakes.ts'

t.test('the first join takes the call and a lease, and the end gives the lease back', async (t) => {
  const all = setup({ limits: 1 })
  const seat = await all.admit()
  t.match(seat, { isJoined: false, identity: 'ada', sampleRate: 24_000 })
  const joined = await seat.join({ prompt: 'Be kind.' })
  t.same(all.claimed, ['s_1'])
  const sink = joined.begin(all.transport)
  t.match(all.started[0]?.call.pipeline, { systemPrompt: 'Be kind.' })
  sink.userMessage('hello')
  t.same(all.log, ['userMessage hello'])
  t.match(await failure(all.join('s_2')), { data: { kind: 'too_many_at_once' } }, 'the session has the one lease')
  all.finish()
  t.equal(all.registry.size, 0)
  await all.join('s_2')
})

t.test('a call that cannot be had gives the lease back', async (t) => {
  const all = setup({ limits: 1, claim: false })
  t.match(await failure(all.join()), { data: { kind: 'call_not_live' } })
  t.match(await failure(all.join()), { data: { kind: 'call_not_live' } })
  t.equal(all.registry.size, 0)
})

t.test('sessions that cannot be joined', async (t) => {
  const refusals: [string, Partial<Call>, object][] = [
    ['over', { status: 'completed' }, { data: { kind: 'call_not_live' } }],
    ['not joined in time', { expiresAtMs: 1_700_000_000_000 }, { data: { kind: 'call_not_live' } }],
    ['of another identity', { identity: 'eve' }, { data: { kind: 'not_found' } }],
    ['of another process', { ownerId: 'other', status: 'in_progress' }, { kind: 'overloaded' }],
  ]
  for (const [what, over, expected] of refusals) t.match(await failure(setup({ over }).admit()), expected, what)
  const full = setup({ sessionsMax: 1 })
  await full.join()
  t.match(await failure(full.admit('s_2')), { kind: 'overloaded' }, 'the process has as many as it takes')
  const draining = setup()
  draining.registry.drain()
  t.match(await failure(draining.admit()), { kind: 'overloaded' })
})

t.test('a lost socket may come back for a while', async (t) => {
  const all = setup()
  const sink = await all.join()
  sink.gone()
  await all.clock.advance(19_999)
  const seat = await all.admit()
  t.equal(seat.isJoined, true)
  const joined = await seat.join({})
  t.equal(joined.resumed, true)
  const second = joined.begin(all.transport)
  await all.clock.advance(60_000)
  t.same(all.log, ['gone', 'back'], 'nobody ends a session that came back')
  sink.userMessage('old')
  sink.gone()
  second.userMessage('new')
  t.same(all.log, ['gone', 'back', 'userMessage new'], 'the older socket is ignored')
  second.gone()
  await all.clock.advance(20_000)
  t.same(all.log.slice(3), ['gone', 'end user_disconnected'])
})

t.test('a session is ended by its tenant only', async (t) => {
  const all = setup()
  await all.join()
  t.equal(all.registry.end({ organizationId: 'org_2', test: false }, 's_1', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: true }, 's_1', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: false }, 's_9', 'api_ended'), false)
  t.equal(all.registry.end({ organizationId: 'org_1', test: false }, 's_1', 'api_ended'), true)
  const closed = all.registry.close('server_shutdown', 5000)
  all.finish()
  await closed
  t.same(all.log, ['end api_ended', 'end server_shutdown'])
})

function setup({
  limits = 9,
  sessionsMax = 2,
  claim = true,
  over = {},
}: {
  limits?: number
  sessionsMax?: number
  claim?: boolean
  over?: Partial<Call>
} = {}) {
  const { clock } = bench([])
  const log: string[] = []
  const claimed: string[] = []
  const started: { call: Call }[] = []
  let finish = () => {}
  const user = caller({ maxConcurrency: limits })
  const deps: LiveSessionDeps = {
    calls: {
      findWithSecrets: (_tenant, id) => Promise.resolve({ call: callOf(id, over), secrets: {} }),
      claim: (_tenant, id) => {
        claimed.push(id)
        return Promise.resolve(claim)
      },
      countLive: () => Promise.resolve(0),
    },
    organizations: { find: () => Promise.resolve({ recordingEnabled: true, maxSessions: null }) },
    limits: createLocalLimits(),
    startConversation: (live, _caller, _transport, ended) => {
      started.push(live)
      finish = ended
      return recorded(log)
    },
    clock,
    log: { info() {}, warn() {}, error() {} },
    ownerId: 'this',
    sessionsMax,
    reconnectMs: 20_000,
  }
  const registry = new SessionRegistry(deps)
  const transport = {} as MediaTransport
  const admit = (id = 's_1') => {
    const claims = { sessionId: id, identity: 'ada', organizationId: 'org_1', keyId: 'key_1', expiresAtMs: 0 }
    return registry.admit(claims, user)
  }
  const join = async (id?: string) => (await (await admit(id)).join({})).begin(transport)
  return { registry, clock, log, claimed, started, transport, admit, join, finish: () => finish() }
}

function recorded(log: string[]): Conversation {
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void log.push([name, ...args.filter((arg) => typeof arg === 'string')].join(' '))
  return {
    audio: note('audio'),
    played: note('played'),
    cleared: note('cleared'),
    userMessage: note('userMessage'),
    contextualUpdate: note('contextualUpdate'),
    dtmf: note('dtmf'),
    toolResult: () => true,
    gone: note('gone'),
    back: note('back'),
    hangUp: note('hangUp'),
    end: note('end'),
  }
}

function callOf(id: string, over: Partial<Call>): Call {
  const pipeline = {
    systemPrompt: 'x',
    ttsOptions: { sampleRate: 24_000 },
    recording: false,
    maxDurationSeconds: 60,
    agentName: null,
    clientOverrides: ['prompt'],
  }
  const call = { id, organizationId: 'org_1', test: false, keyId: 'key_1', status: 'queued', identity: 'ada', pipeline }
  return { ...call, ownerId: null, expiresAtMs: 1_700_000_060_000, ...over } as Call
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  )
}
