/**
 * Runs phone calls over a simulated phone line, whose steps a test can delay or let fail, on a test clock. Nothing is
 * stored or played.
 */

import { createRules } from '../../app/resources.ts'
import { createLocalLimits } from '../../domain/access/local-limits.ts'
import { createJournal } from '../../domain/calls/journal.ts'
import type { LiveCall } from '../../domain/conversation/parts/live-call.ts'
import { createTakeInbound } from '../../domain/phone/inbound.ts'
import { createDialPhone, type TelephonyOptions } from '../../domain/phone/outbound.ts'
import { PhoneCalls } from '../../domain/phone/phone-calls.ts'
import type { ExpectedLeg } from '../../domain/ports/leg-media.ts'
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { LegEvent, LegEventBody, LegToDial, PhoneLine } from '../../domain/ports/phone-line.ts'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import type { CallableNumber } from '../../domain/records/callable-number.ts'
import type { Leg, LegStore } from '../../domain/records/leg.ts'
import { isTerminal } from '../../domain/records/states/call.ts'
import { settled, TestClock } from '../clock.ts'
import { bench, caller } from '../domain/fakes.ts'
import { RecordingSink } from '../session/media-harness.ts'

const number: CallableNumber = {
  organizationId: 'org_1',
  test: true,
  id: 'pn_1',
  e164: '+15005550100',
  source: 'managed',
  connectionId: null,
  direction: 'both',
  agentId: null,
  dispatchMetadataTemplate: { intent: { language: 'en' }, systemPrompt: 'Be brief.' },
}

const silent: MediaTransport = { sampleRateHz: 16_000, frame() {}, mark() {}, clear() {}, notify() {}, close() {} }

/** A test replaces a step by a failing or waiting step. */
type Step = () => Promise<unknown>
type Steps = Record<'dial' | 'answer' | 'reject' | 'hangUp' | 'store' | 'commit' | 'send' | 'take' | 'askBefore', Step>

export const fails = (error: Error) => () => Promise.reject(error)

export const carrierLegId = 'v3:leg'
/** By this time the journal has written its gathered entries. */
const gatherMs = 100

/** Opens the phone line. `connectionId` is the SIP connection, if the calling number belongs to a trunk. */
export function openDesk({ connectionId = null }: { connectionId?: string | null } = {}) {
  const clock = new TestClock()
  const works = () => Promise.resolve()
  const names = ['dial', 'answer', 'reject', 'hangUp', 'store', 'commit', 'send', 'take', 'askBefore'] as const
  const steps = Object.fromEntries(names.map((name) => [name, works])) as Steps
  const commands: string[] = []
  const dialling: LegToDial[] = []
  const state = { isAlive: true, isReady: true, isOrphaned: false, isDialled: false }
  const line: PhoneLine = {
    name: 'simulator',
    async dial(leg) {
      dialling.push(leg)
      await steps.dial()
      return { carrierLegId }
    },
    async answer() {
      commands.push('answer')
      await steps.answer()
    },
    async reject(_leg, code) {
      commands.push(`reject ${code}`)
      await steps.reject()
    },
    async hangUp(leg) {
      commands.push(`hangUp ${leg.carrierLegId}`)
      await steps.hangUp()
    },
    bridge: () => Promise.resolve(),
    sendDtmf: () => Promise.resolve(),
    isAlive: () => Promise.resolve(state.isAlive),
    find: (legId) => Promise.resolve(state.isDialled ? { legId, carrierLegId } : null),
  }
  const calls = new Map<string, Call>()
  const legs = new Map<string, Leg>()
  const entries: CallEntry[] = []
  const expected = new Map<string, ExpectedLeg>()
  const begun: LiveCall[] = []
  const { deps } = bench([])
  const lines = { of: () => line, named: () => line }
  const change = (id: string, more: Partial<Leg>) => {
    const leg = legs.get(id)
    if (leg !== undefined) legs.set(id, { ...leg, ...more })
    return Promise.resolve()
  }
  const legStore: LegStore = {
    find: (_line, of) =>
      Promise.resolve(
        [...legs.values()].find(
          (leg) => leg.carrierLegId === of.carrierLegId || (leg.id === of.legId && leg.carrierLegId === null),
        ) ?? null,
      ),
    insert: (leg) => Promise.resolve(void legs.set(leg.id, leg)),
    dialed: (leg, name) => change(leg.id, { carrierLegId: name }),
    answered: (leg, atMs) => change(leg.id, { answeredAtMs: legs.get(leg.id)?.answeredAtMs ?? atMs }),
    ended: (leg, atMs) => change(leg.id, { endedAtMs: legs.get(leg.id)?.endedAtMs ?? atMs }),
    orphans: () => Promise.resolve(state.isOrphaned ? [...legs.values()] : []),
    unattended: () => Promise.resolve([...legs.values()].filter(({ endedAtMs }) => endedAtMs === null)),
  }
  const log = { info() {}, warn() {}, error() {} }
  const journal = createJournal({
    calls: {
      append(_tenant, id, added) {
        entries.push(...added)
        const call = calls.get(id)
        for (const entry of added)
          if (entry.kind === 'move' && call) calls.set(id, { ...call, status: entry.to, ...entry.change })
        return Promise.resolve([])
      },
    },
    clock,
    log,
    eventId: () => `event_${entries.length}`,
    callbackId: () => 'cb_1',
    ended: () => {},
  })
  let ids = 0
  const ignored: [line: string, reason: string][] = []
  const phones = new PhoneCalls({
    lines,
    media: {
      expect(leg) {
        expected.set(leg.legId, leg)
        return { url: 'ws://here', token: 't', sampleRateHz: 8000 }
      },
      forget: (legId) => void expected.delete(legId),
    },
    legs: legStore,
    calls: { find: (_tenant, id) => Promise.resolve(calls.get(id) ?? null) },
    commands: {
      async send(_tenant, _id, _ownerId, command) {
        await steps.send()
        if (command.kind === 'legEvent') phones.take(command.legId, command.line, command.event)
        return { answer: null }
      },
    },
    journal,
    countIgnored: (...counted) => void ignored.push(counted),
    clock,
    log,
  })
  const user = caller({}, { test: true })
  const shared = {
    agents: { find: () => Promise.resolve(null) },
    tools: { listWithSecrets: () => Promise.resolve([]) },
    rules: createRules(deps.chooser.world.catalog, []),
    limits: createLocalLimits(),
    credit: deps.credit,
    organizations: { find: () => Promise.resolve(null) },
    calls: {
      async insertPhoned(call: Call, _secrets: unknown, leg: Leg) {
        await steps.store()
        calls.set(call.id, call)
        legs.set(leg.id, leg)
        await steps.commit()
        return true
      },
      reconfigure: () => Promise.resolve(),
      countLive: () => Promise.resolve(0),
    },
    preCall: { ask: () => steps.askBefore().then(() => null), issuesOf: () => null },
    routes: { require() {}, warmUp() {} },
    lines,
    phones,
    priceOf: () => null,
    sessions: {
      async take() {
        await steps.take()
        return {
          begin(live: LiveCall, transport: MediaTransport) {
            begun.push(live)
            live.log?.connected()
            return new RecordingSink(transport)
          },
          drop() {},
          conversation: null,
        }
      },
    },
    clock,
    ids: { session: () => `call_${++ids}`, leg: () => `leg_${++ids}` },
    ownerId: 'this',
    log,
  }
  const takeInbound = createTakeInbound({
    ...shared,
    numbers: {
      findInbound: () => Promise.resolve(number),
      ofConnection: () => Promise.resolve([number]),
      isInboundReady: () => Promise.resolve(state.isReady),
    },
    callers: { find: () => Promise.resolve(user) },
    e164: (text) => text,
    isDialed: (text, e164) => text === e164,
  })
  const received = (event: LegEvent) => phones.received('simulator', event, takeInbound)
  const dial = createDialPhone({
    ...shared,
    numbers: { outboundFor: () => Promise.resolve({ ...number, connectionId }) },
    isPhoneNumber: () => true,
  })
  const wanted = { to: '+15005550006', intent: { language: 'en' }, systemPrompt: 'Be brief.' }
  const passing = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false
    const done = () => {
      isDone = true
    }
    work.then(done, done)
    for (let rounds = 0; !isDone && rounds < 1000; rounds++) await clock.advance(10)
    return work
  }
  let events = 0
  const eventOf = (body: LegEventBody, legId: string | null = null): LegEvent => ({
    id: `carrier_${++events}`,
    occurredAtMs: clock.nowMs(),
    carrierLegId,
    legId,
    ...body,
  })
  return Object.assign(state, {
    /** The organization with the number. */
    organization: user.organization,
    clock,
    steps,
    commands,
    dialling,
    begun,
    /** The received events without a known leg. */
    ignored,
    phones,
    legs,
    /** Waits until all started work has finished and is stored. */
    async passes() {
      await settled()
      await clock.advance(gatherMs)
    },
    /** Starts a call without letting time pass. */
    dial: () => dial(user, wanted),
    /** Places a call while time passes. */
    dialled: (more: { maxDurationSeconds?: number; telephony?: TelephonyOptions } = {}) =>
      passing(dial(user, { ...wanted, ...more })),
    eventOf,
    /** Starts the audio stream of the newest leg. The stream may also give the leg its id at the phone line. */
    join: (name?: string): MediaSink => {
      const leg = expected.get([...legs.keys()].at(-1) ?? '')
      if (leg === undefined) throw new Error('no leg is expected')
      return leg.joined(silent, name)
    },
    /** Delivers an event to this process. */
    received,
    happens: (body: LegEventBody, legId: string | null = null) => received(eventOf(body, legId)),
    call: () => [...calls.values()].at(-1),
    leg: () => [...legs.values()].at(-1),
    /** The events with this type. */
    events: (type: string) =>
      entries.flatMap((entry) => ('event' in entry && entry.event.type === type ? [entry.event] : [])),
    /** The ends of calls, each as status, reason and SIP code. */
    ends: () =>
      entries.flatMap((entry) =>
        entry.kind === 'move' && isTerminal(entry.to)
          ? [`${entry.to} ${entry.change.endReason} ${entry.event.sipCode ?? '-'}`]
          : [],
      ),
    eventTypes: () => entries.flatMap((entry) => ('event' in entry ? [entry.event.type] : [])),
  })
}

export const incoming: LegEventBody = {
  type: 'initiated',
  direction: 'incoming',
  from: '+15005550006',
  to: '+15005550100',
  forwarding: {
    forwardedFrom: null,
    originalTo: null,
    redirectingNumber: null,
    diversion: [],
    historyInfo: [],
    privacy: [],
  },
}
export const hangup: LegEventBody = { type: 'hangup', sipCode: null, cause: 'normal_clearing', by: 'caller' }
