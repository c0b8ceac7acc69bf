/** Phone calls: placing and answering them, managing their legs, and receiving line events. */
import type { PlaceCallback } from '../domain/callbacks/callbacks.ts'
import type { Journal } from '../domain/calls/journal.ts'
import type { CallRegistry } from '../domain/calls/live/call-registry.ts'
import { createTakeInbound } from '../domain/phone/inbound.ts'
import { chargeLegs } from '../domain/phone/leg-charges.ts'
import { createDialPhone, type DialPhone } from '../domain/phone/outbound.ts'
import { PhoneCalls } from '../domain/phone/phone-calls.ts'
import { createPhoneEvents, type PhoneEvents } from '../domain/phone/phone-events.ts'
import { createPlaceCallback } from '../domain/phone/place-callback.ts'
import { createPriceOfLeg, type PriceOfLeg } from '../domain/records/leg-costs.ts'
import type { LiveTransfers } from '../domain/records/transfer.ts'
import type { SessionRules } from '../domain/sessions/check.ts'
import type { PreCall } from '../domain/sessions/pre-call.ts'
import type { SessionRoutes } from '../domain/speech/session-routes.ts'
import { AskTransfers } from '../domain/transfers/ask-transfers.ts'
import { CallTransfers } from '../domain/transfers/call-transfers.ts'
import type { FetchHoldAudio } from '../domain/transfers/hold-audio.ts'
import { createTransferTool, type TransferTool } from '../domain/transfers/transfer-tool.ts'
import { Loops } from '../runtime/timing/loops.ts'
import { e164Of, isDialed, isPhoneNumber } from '../runtime/values/phone-number.ts'
import type { App } from './app.ts'
import type { Lines } from './lines.ts'

/** This process's phone calls and their transfers. */
export type Phones = {
  calls: PhoneCalls
  priceOf: PriceOfLeg
  liveTransfers: LiveTransfers
  transfers: AskTransfers
  /** Transfers phone calls for their agents. */
  transferTool: TransferTool
}

type PhoneNeeds = {
  lines: Lines
  journal: Journal
  fetchHoldAudio: FetchHoldAudio
  rules: SessionRules
}

/** The interval for checking a leg that sends neither events nor audio. */
const lookEveryMs = 10_000
/**
 * The interval for hanging up a dead process's legs. With the time until a process counts as dead, it takes at most 30
 * s.
 */
const orphansEveryMs = 5_000
/**
 * The interval for checking two legs still connected to each other after their call's end, when no process handles
 * them.
 */
const unattendedEveryMs = 10_000
/** The longest delay before a leg's finished minute is debited. */
const chargeEveryMs = 5_000
const closeMs = 1_000

export function openPhones(app: App, { lines, journal, fetchHoldAudio, rules }: PhoneNeeds): Phones {
  const { config, store, clock, ids, log, metrics } = app
  const { calls, legs, callCommands: commands, phoneNumbers: numbers, credit, instanceId: ownerId } = store
  // The prices per minute that the carrier charges.
  const priceOf = createPriceOfLeg(config.carrier.prices)
  const { legs: media } = lines
  const countIgnored = metrics.carrierEventIgnored
  const phones = new PhoneCalls({ lines: lines.lines, media, legs, calls, commands, journal, countIgnored, clock, log })
  app.closing(() => phones.close(closeMs))
  const legIds = { transfer: ids.session, leg: ids.leg }
  const live = new CallTransfers({ phones, media, legs, priceOf, fetchHoldAudio, clock, log, ids: legIds })
  const { transfers: stored } = store
  const transfers = new AskTransfers({
    calls,
    transfers: stored,
    numbers,
    credit,
    commands,
    ownerId,
    rules: rules.tool,
    live,
  })
  startLoops(app, phones)
  return { calls: phones, priceOf, liveTransfers: live, transfers, transferTool: createTransferTool(transfers, log) }
}

function startLoops(app: App, phones: PhoneCalls): void {
  const { store, clock, log } = app
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  loops.start({ name: 'legs without a sign of life', everyMs: lookEveryMs, run: () => Promise.resolve(phones.look()) })
  loops.start({ name: 'legs that no process holds', everyMs: orphansEveryMs, run: () => phones.hangUpOrphans() })
  const lookAtUnattended = () => phones.lookAtUnattended()
  loops.start({ name: 'legs after the end of their call', everyMs: unattendedEveryMs, run: lookAtUnattended })
  const charging = { charges: store.legCharges, phones, ownerId: store.instanceId }
  loops.start({ name: 'debits of legs', everyMs: chargeEveryMs, run: () => chargeLegs(charging) })
}

export type PhoneSessions = {
  dial: DialPhone
  placeCallback: PlaceCallback
  events: PhoneEvents
}

type PhoneSessionNeeds = {
  lines: Lines
  phones: Phones
  live: CallRegistry
  routes: SessionRoutes
  rules: SessionRules
  preCall: PreCall
}

export function createPhoneSessions(app: App, needs: PhoneSessionNeeds): PhoneSessions {
  const { store, clock, ids, log } = app
  const { live, routes, rules, preCall, phones } = needs
  const { calls, agents, tools, limits, credit, organizations, callbacks, phoneNumbers: numbers } = store
  const { lines } = needs.lines
  const shared = {
    agents,
    tools,
    rules,
    limits,
    credit,
    organizations,
    calls,
    preCall,
    routes,
    numbers,
    phones: phones.calls,
    priceOf: phones.priceOf,
    clock,
    sessions: live,
    ids,
    ownerId: store.instanceId,
    lines,
  }
  const { numberCallers: callers } = store
  const takeInbound = createTakeInbound({ ...shared, callers, e164: e164Of, isDialed, log })
  const dial = createDialPhone({ ...shared, isPhoneNumber })
  return {
    dial,
    placeCallback: createPlaceCallback({ callbacks, numbers, lines, callers, dial }),
    events: createPhoneEvents(phones.calls, takeInbound),
  }
}
