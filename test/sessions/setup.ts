/** A registry of live sessions over stubs on a test clock. */
import { createLocalLimits } from '../../domain/access/local-limits.ts'
import { CallRegistry, type CallRegistryDeps } from '../../domain/calls/live/call-registry.ts'
import type { TakePlace } from '../../domain/calls/live/places.ts'
import type { SessionSeat } from '../../domain/calls/live/seats.ts'
import type { EndedCall } from '../../domain/calls/store.ts'
import type { Conversation } from '../../domain/conversation/parts/live-call.ts'
import type { MediaTransport } from '../../domain/ports/media.ts'
import type { Call } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { TransportClaims } from '../../domain/sessions/transport-token.ts'
import { pipeline } from '../calls/call.ts'
import { bench, caller } from '../domain/fakes.ts'

type Setup = {
  limits?: number
  sessionsMax?: number
  maxSessions?: number | null
  claim?: boolean | 'fails' | 'away'
  start?: 'works' | 'fails'
  /** If true, the organization is disabled while the call is being claimed. */
  disables?: boolean
  over?: Partial<Call>
}

export function setup({
  limits = 9,
  sessionsMax = 2,
  maxSessions = null,
  claim = true,
  start = 'works',
  disables = false,
  over = {},
}: Setup = {}) {
  const { clock } = bench([])
  const log: string[] = []
  const claimed: string[] = []
  const released: string[] = []
  const endedUnowned: string[] = []
  const warmed: Pipeline['intent'][] = []
  const stored: Pipeline[] = []
  const endedElsewhere: EndedCall[] = []
  const started: { call: Call }[] = []
  let finish = () => {}
  const state = {
    isOver: false,
    isTransferring: false,
    failsJoins: false,
    failsReleases: false,
    failsEnds: false,
    counts: true,
  }
  const user = caller({ maxConcurrency: limits })
  const deps: CallRegistryDeps = {
    calls: {
      findWithSecrets: (_tenant, id) => Promise.resolve({ call: callOf(id, over), secrets: {} }),
      claim: (_tenant, id, _ownerId, pipeline) => {
        claimed.push(id)
        if (pipeline !== null) stored.push(pipeline)
        if (claim === 'away') return Promise.reject(new Fault({ kind: 'store_unreachable' }))
        return claim === 'fails' ? Promise.reject(new Error('a defect')) : Promise.resolve(claim)
      },
      release: (_tenant, id) => {
        if (state.failsReleases) return Promise.reject(new Error('away'))
        released.push(id)
        return Promise.resolve()
      },
      endUnowned: (_tenant, id, reason) => {
        if (state.failsEnds) return Promise.reject(new Error('could not extend file: No space left on device'))
        endedUnowned.push(`${id} ${reason}`)
        return Promise.resolve()
      },
      countLive: () =>
        state.counts
          ? Promise.resolve(claimed.length - released.length)
          : Promise.reject(new Fault({ kind: 'store_unreachable' })),
      endedAmong: (ids) => Promise.resolve(endedElsewhere.filter(({ id }) => ids.includes(id))),
    },
    organizations: {
      find: () => Promise.resolve({ recordingEnabled: true, maxSessions, isDisabled: disables && claimed.length > 0 }),
    },
    routes: {
      require: (_caller, { intent }) => {
        if (intent.language === 'xx') throw new Fault({ kind: 'none_allowed', stage: 'stt' })
      },
      warmUp: (_caller, { intent }) => void warmed.push(intent),
    },
    limits: createLocalLimits(),
    startConversation: (live, _caller, _transport, ended) => {
      if (start === 'fails') throw new Error('no route')
      started.push(live)
      finish = ended
      return recorded(log, state)
    },
    clock,
    log: { info() {}, warn() {}, error() {} },
    ownerId: 'this',
    takePlace: placesOf(sessionsMax),
    reconnectMs: 20_000,
    nodeUrl: null,
  }
  const registry = new CallRegistry(deps)
  const transport = {} as MediaTransport
  const admitted = (id = 's_1', more: Partial<TransportClaims> = {}) => {
    const claims = { sessionId: id, identity: 'ada', organizationId: 'org_1', keyId: 'key_1', expiresAtMs: 0, ...more }
    return registry.admit(claims, user)
  }
  const admit = async (id?: string) => {
    const seat = await admitted(id)
    if ('ownerId' in seat) throw new Error('another process holds it')
    return seat
  }
  const person = (identity: string, expiresAtMs = clock.nowMs() + 60_000) =>
    admitted('s_1', { identity, expiresAtMs, person: { displayName: null } }) as Promise<SessionSeat>
  const join = async (id?: string) => (await (await admit(id)).join({})).begin(transport)
  return {
    registry,
    clock,
    log,
    claimed,
    released,
    endedUnowned,
    warmed,
    stored,
    endedElsewhere,
    started,
    transport,
    admitted,
    admit,
    person,
    join,
    finish: () => finish(),
    beginTransfer: () => void (state.isTransferring = true),
    endConversation: () => void (state.isOver = true),
    breakJoins: (fails: boolean) => void (state.failsJoins = fails),
    breakCounts: () => void (state.counts = false),
    breakReleases: (fails: boolean) => void (state.failsReleases = fails),
    breakEnds: (fails: boolean) => void (state.failsEnds = fails),
  }
}

/** Lets any organization start a session while fewer than `max` sessions run. */
function placesOf(max: number): TakePlace {
  let free = max
  return () => {
    if (free === 0) return null
    free -= 1
    return () => void (free += 1)
  }
}

function recorded(log: string[], state = { isOver: false, isTransferring: false, failsJoins: false }): Conversation {
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void log.push([name, ...args.filter((arg) => typeof arg === 'string')].join(' '))
  return {
    get isOver() {
      return state.isOver
    },
    get isEnding() {
      return state.isOver
    },
    get isTransferring() {
      return state.isTransferring
    },
    isHandedOver: false,
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
    hold: () => false,
    resume: note('resume'),
    handOver: note('handOver'),
    silence: note('silence'),
    leave: note('leave'),
    creditGone: note('creditGone'),
    screen: () => ({ ...recorded(log), close: note('close') }),
    join: (person) => {
      if (state.failsJoins) throw new Error('no room')
      log.push(`join ${person.identity}`)
      return { ...recorded(log), hangUp: note(`left ${person.identity}`) }
    },
  }
}

function callOf(id: string, over: Partial<Call>): Call {
  const own = {
    systemPrompt: 'x',
    intent: pipeline.intent,
    ttsOptions: { sampleRate: 24_000 },
    recording: false,
    maxDurationSeconds: 60,
    agentName: null,
    clientOverrides: ['prompt'],
  }
  const call = {
    id,
    organizationId: 'org_1',
    test: false,
    keyId: 'key_1',
    status: 'queued',
    identity: 'ada',
    pipeline: own,
  }
  return { ...call, ownerId: null, expiresAtMs: 1_700_000_060_000, ...over } as Call
}

export async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it did not fail'),
    (thrown: unknown) => thrown,
  )
}
