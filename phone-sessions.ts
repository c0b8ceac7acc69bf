/** Joins calls by phone: how they are placed and taken, what becomes of their legs, and how the events of lines reach them. */
import type { PlaceCallback } from './domain/callbacks/callbacks.ts'
import type { Journal } from './domain/calls/journal.ts'
import { createTakeInbound } from './domain/phone/inbound.ts'
import { chargeLegs } from './domain/phone/leg-charges.ts'
import { createPriceOfLeg, type LinePrice } from './domain/phone/leg-costs.ts'
import { createDialPhone, type DialPhone } from './domain/phone/outbound.ts'
import { PhoneCalls } from './domain/phone/phone-calls.ts'
import { createPlaceCallback } from './domain/phone/place-callback.ts'
import type { CallableNumbers, PhoneLines } from './domain/phone/ports.ts'
import type { LegMedia } from './domain/ports/leg-media.ts'
import type { CountIgnoredEvent, LegEvents } from './domain/ports/phone-line.ts'
import type { SessionRules } from './domain/sessions/check.ts'
import type { SessionRegistry } from './domain/sessions/live-sessions.ts'
import type { PreCall } from './domain/sessions/pre-call.ts'
import type { SessionRoutes } from './domain/sessions/routes.ts'
import { AskTransfers } from './domain/transfers/ask-transfers.ts'
import { CallTransfers } from './domain/transfers/call-transfers.ts'
import type { FetchHoldAudio } from './domain/transfers/hold-audio.ts'
import type { LiveTransfers } from './domain/transfers/transfer.ts'
import { createTransferTool, type TransferTool } from './domain/transfers/transfer-tool.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { Loops } from './runtime/loops.ts'
import { e164Of, isDialed, isPhoneNumber } from './runtime/phone-number.ts'
import type { Store } from './store/store.ts'

/** The lines of this process, with the audio of their legs. */
export type Telephony = {
  lines: PhoneLines
  media: LegMedia
  numbers: CallableNumbers
  countIgnored: CountIgnoredEvent
}

export type PhoneParts = {
  store: Store
  telephony: Telephony
  live: SessionRegistry
  /** The carrier asks these by the minute. */
  prices: readonly LinePrice[]
  routes: SessionRoutes
  rules: SessionRules
  preCall: PreCall
  journal: Journal
  fetchHoldAudio: FetchHoldAudio
  log: ReturnType<typeof createLog>
}

export type PhoneSessions = {
  dial: DialPhone
  placeCallback: PlaceCallback
  events: LegEvents & Pick<PhoneCalls, 'take'>
  /** The transfers of the calls that this process holds. */
  liveTransfers: LiveTransfers
  transfers: AskTransfers
  /** For the agents of calls by phone. */
  transferTool: TransferTool
  close(): Promise<void>
}

/** A leg without a sign of life is asked about this often. */
const lookEveryMs = 10_000
/** With the time after which a process counts as dead, its legs are hung up 30 s after its end at the latest. */
const orphansEveryMs = 5_000
/** Two people who talk without a process are asked about this often. */
const unattendedEveryMs = 10_000
/** A minute of a leg that is over is debited this late at most. */
const chargeEveryMs = 5_000
const closeMs = 1_000

export function openPhoneSessions(parts: PhoneParts): PhoneSessions {
  const { store, telephony, live, prices, routes, rules, preCall, journal, fetchHoldAudio, log } = parts
  const { lines, media, numbers, countIgnored } = telephony
  const { calls, legs, callCommands: commands, agents, tools, limits, credit, organizations } = store
  const clock = systemClock
  const priceOf = createPriceOfLeg(prices)
  const phones = new PhoneCalls({ lines, media, legs, calls, commands, journal, countIgnored, clock, log })
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
    phones,
    priceOf,
    clock,
  }
  const held = { ...shared, sessions: live, ids: systemIds, ownerId: store.instanceId, lines }
  phones.serve(createTakeInbound({ ...held, callers: store.numberCallers, e164: e164Of, isDialed, log }))
  const ids = { transfer: systemIds.session, leg: systemIds.leg }
  const liveTransfers = new CallTransfers({ phones, media, legs, priceOf, fetchHoldAudio, clock, log, ids })
  const asked = {
    calls,
    transfers: store.transfers,
    numbers,
    credit,
    commands,
    ownerId: store.instanceId,
    rules: rules.tool,
  }
  const transfers = new AskTransfers({ ...asked, live: liveTransfers })
  const loops = new Loops(clock, log)
  loops.start({ name: 'legs without a sign of life', everyMs: lookEveryMs, run: () => Promise.resolve(phones.look()) })
  loops.start({ name: 'legs that no process holds', everyMs: orphansEveryMs, run: () => phones.hangUpOrphans() })
  const lookAtUnattended = () => phones.lookAtUnattended()
  loops.start({ name: 'legs after the end of their call', everyMs: unattendedEveryMs, run: lookAtUnattended })
  const dial = createDialPhone({ ...held, isPhoneNumber })
  const { callbacks, numberCallers: callers } = store
  const charging = { charges: store.legCharges, phones, ownerId: store.instanceId }
  loops.start({ name: 'debits of legs', everyMs: chargeEveryMs, run: () => chargeLegs(charging) })
  return {
    dial,
    placeCallback: createPlaceCallback({ callbacks, numbers, lines, callers, dial }),
    events: phones,
    liveTransfers,
    transfers,
    transferTool: createTransferTool(transfers, log),
    close: async () => {
      await loops.stop(closeMs)
      await phones.close(closeMs)
    },
  }
}
