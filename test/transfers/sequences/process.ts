/** One Parley process: its parts for phone calls and their transfers, over the database and the carrier. */
import { createLocalLimits } from '../../../domain/access/local-limits.ts'
import { createJournal } from '../../../domain/calls/journal.ts'
import { CallRegistry } from '../../../domain/calls/live/call-registry.ts'
import type { CallAnswer, CallCommand, CallCommands } from '../../../domain/calls/live/commands.ts'
import { PhoneCalls } from '../../../domain/phone/phone-calls.ts'
import type { ExpectedLeg } from '../../../domain/ports/leg-media.ts'
import type { MediaSink, MediaTransport } from '../../../domain/ports/media.ts'
import { type LegEvent, type LineName, type PhoneLine, PhoneLineError } from '../../../domain/ports/phone-line.ts'
import type { Log } from '../../../domain/ports/system.ts'
import type { Call } from '../../../domain/records/call.ts'
import { Fault } from '../../../domain/records/fault.ts'
import type { Leg, LegStore } from '../../../domain/records/leg.ts'
import { AskTransfers } from '../../../domain/transfers/ask-transfers.ts'
import { CallTransfers } from '../../../domain/transfers/call-transfers.ts'
import type { TestClock } from '../../clock.ts'
import { caller } from '../../domain/fakes.ts'
import { ModelledAgent } from './agent.ts'
import type { Database } from './database.ts'
import { Life } from './life.ts'
import type { SequenceLine } from './line.ts'

/** The periods of a process's loops. */
const periodsMs = { renew: 1_000, look: 10_000, orphanedLegs: 5_000, unattendedLegs: 10_000, orphanedCalls: 2_000 }
const reconnectMs = 20_000
const ringingMs = 30_000
export const dialledTo = '+15005550011'
const ourNumber = '+14155550100'

export const user = caller({}, { test: true })
const tenant = { organizationId: user.organization.id, test: true }

export type ProcessParts = {
  id: string
  clock: TestClock
  database: Database
  carrier: SequenceLine
  log: Log
  ids: { transfer: () => string; leg: () => string; event: () => string }
  send: CallCommands['send']
}

/** A leg's audio stream to this process. */
export type OpenStream = { sink: MediaSink; isClosed: boolean }

export class ParleyProcess {
  readonly id: string
  readonly life: Life
  readonly phones: PhoneCalls
  readonly transfers: CallTransfers
  readonly ask: AskTransfers
  readonly sessions: CallRegistry
  agent: ModelledAgent | null = null
  readonly #parts: ProcessParts
  readonly #line: PhoneLine
  readonly #legs: LegStore
  /** The legs with expected streams, by stream URL. */
  readonly #expected = new Map<string, ExpectedLeg>()
  #addresses = 0

  constructor(parts: ProcessParts) {
    const { id, clock, database, carrier, log, ids } = parts
    const life = new Life(clock)
    this.#parts = parts
    this.id = id
    this.life = life
    const run = <T>(statement: () => T) => database.run(life, statement)
    this.#legs = legsOf(database, life)
    this.#line = carrier.line(life)
    const calls = {
      find: (_tenant: unknown, callId: string) => run(() => database.calls.get(callId) ?? null),
    }
    const commands = { send: parts.send }
    const journal = createJournal({
      calls: { append: (_tenant, callId, entries) => run(() => database.append(callId, entries)) },
      clock: life,
      log,
      eventId: ids.event,
      callbackId: ids.event,
      ended() {},
    })
    const media = {
      expect: (leg: ExpectedLeg) => {
        const address = `ws://127.0.0.1/${id}/${++this.#addresses}`
        this.#expected.set(address, leg)
        return { url: address, token: 't', sampleRateHz: 8000 as const }
      },
      forget: (legId: string) => {
        for (const [address, leg] of this.#expected) if (leg.legId === legId) this.#expected.delete(address)
      },
    }
    const lines = { of: () => this.#line, named: () => this.#line }
    const shared = { media, legs: this.#legs, clock: life, log, countIgnored: () => {} }
    this.phones = new PhoneCalls({ ...shared, lines, calls, commands, journal })
    this.transfers = new CallTransfers({
      ...shared,
      phones: this.phones,
      priceOf: () => null,
      fetchHoldAudio: () => null,
      ids,
    })
    this.ask = new AskTransfers({
      calls,
      transfers: {
        find: (_tenant, _callId, transferId) => run(() => database.transfers.get(transferId) ?? null),
        list: () => run(() => [...database.transfers.values()]),
      },
      numbers: {
        outboundFor: () => Promise.resolve('none'),
      },
      credit: { refusal: () => Promise.resolve(null) },
      live: this.transfers,
      commands,
      ownerId: id,
      rules: {
        isPhoneNumber: () => true,
        hosts: { placeOf: () => 'public', allowsAny: false, isBadPort: () => false },
      },
    })
    this.sessions = this.#openSessions()
    this.#startLoops()
  }

  #openSessions(): CallRegistry {
    const { database, log } = this.#parts
    const { life } = this
    const nobody = () => Promise.resolve(null)
    return new CallRegistry({
      calls: {
        findWithSecrets: nobody,
        claim: () => Promise.resolve(true),
        release: () => Promise.resolve(),
        endUnowned: nobody,
        countLive: () => Promise.resolve(0),
        endedAmong: (ids) =>
          database.run(life, () =>
            ids.flatMap((callId) => {
              const call = database.calls.get(callId)
              return call?.endReason ? [{ ...call, endReason: call.endReason }] : []
            }),
          ),
      },
      organizations: { find: nobody },
      limits: createLocalLimits(),
      routes: { require() {}, warmUp() {} },
      startConversation: (live, _caller, transport, ended) => {
        this.agent = new ModelledAgent(life, live, transport, ended)
        return this.agent
      },
      clock: life,
      log,
      ownerId: this.id,
      takePlace: () => () => {},
      reconnectMs,
      nodeUrl: null,
    })
  }

  #startLoops(): void {
    const { database } = this.#parts
    const { life, phones, sessions } = this
    const renew = () => database.run(life, () => database.renew(this.id))
    database.renew(this.id)
    let suspects: ReadonlySet<string> = new Set()
    life.every(periodsMs.renew, renew)
    life.every(periodsMs.look, () => Promise.resolve(phones.look()))
    life.every(periodsMs.orphanedLegs, () => phones.hangUpOrphans())
    life.every(periodsMs.unattendedLegs, () => phones.lookAtUnattended())
    life.every(periodsMs.orphanedCalls, async () => {
      suspects = new Set(await database.run(life, () => database.endOrphans(suspects)))
      await sessions.endOver()
    })
  }

  /** Stops all work of this process, as if it were killed. */
  die(): void {
    this.life.isAlive = false
  }

  /** Dials the call for the agent. */
  async dial(call: Call): Promise<void> {
    const leg = callerLeg(call, this.#line.name, null)
    const phone = await this.#open(call, leg)
    phone.record.reached('dialing')
    const wanted = {
      ...{ legId: leg.id, from: ourNumber, to: call.phone?.to ?? '', ringingTimeoutS: ringingMs / 1000 },
      ...{ timeLimitS: 14_400, region: null, detectsMachine: null, headers: {}, commandId: leg.id },
    }
    try {
      const media = phone.expectStream()
      const { carrierLegId } = await this.#line.dial({ ...wanted, media }, new AbortController().signal)
      phone.dialed(carrierLegId, ringingMs + 1000)
    } catch (error) {
      if (!(error instanceof PhoneLineError)) throw error
      phone.end('carrier_error')
    }
    phone.configure({ call, secrets: {} })
  }

  readonly #inbound = new Map<string, Call>()

  /** Links an inbound leg's carrier id to its call. The leg announces the call later. */
  expects(carrierLegId: string, call: Call): void {
    this.#inbound.set(carrierLegId, call)
  }

  received(line: LineName, event: LegEvent): Promise<void> {
    return this.phones.received(line, event, (_line, { carrierLegId }) => this.#takeInbound(carrierLegId))
  }

  async #takeInbound(carrierLegId: string): Promise<void> {
    const call = this.#inbound.get(carrierLegId)
    if (call === undefined) throw new Error('a call that nobody expects')
    this.#inbound.delete(carrierLegId)
    const phone = await this.#open({ ...call, ownerId: this.id }, callerLeg(call, this.#line.name, carrierLegId))
    phone.ringing()
    this.phones.catchUp(phone)
    if (phone.isOver) return
    phone.configure({ call: phone.call, secrets: {} })
    void phone.answer()
  }

  async #open(call: Call, leg: Leg) {
    const { database } = this.#parts
    database.calls.set(call.id, call)
    database.legs.set(leg.id, { ...leg, bridgedAtMs: null })
    const live = { call, secrets: {} }
    const connectionId = this.#line.name === 'trunk' ? 'sip_1' : null
    const phone = this.phones.open(live, { ...leg, connectionId }, this.#line)
    phone.hold(await this.sessions.take(live, user, phone))
    return phone
  }

  /** Opens a stream for the carrier. Null if this process no longer accepts it. */
  stream(carrierLegId: string, address: string): OpenStream | null {
    const leg = this.#expected.get(address)
    if (leg === undefined || !this.life.isAlive) return null
    this.#expected.delete(address)
    const stream = { isClosed: false } as OpenStream
    const transport: MediaTransport = {
      sampleRateHz: 16_000,
      frame() {},
      mark() {},
      clear() {},
      notify() {},
      close() {
        stream.isClosed = true
      },
    }
    stream.sink = leg.joined(transport, carrierLegId)
    return stream
  }

  /** Runs a command that another process passes on. */
  async command(callId: string, command: CallCommand): Promise<CallAnswer> {
    if (command.kind === 'transfer') return this.transfers.command(tenant, callId, command.command)
    if (command.kind === 'legEvent') this.phones.take(command.legId, command.line, command.event)
    return null
  }

  /** Ends the call, like a request from an API client. */
  endCall(callId: string): void {
    this.sessions.end(tenant, callId, 'api_ended')
  }
}

function legsOf(database: Database, life: Life): LegStore {
  const change = (leg: { id: string }, more: Parameters<Database['changeLeg']>[1]) =>
    database.run(life, () => database.changeLeg(leg.id, more))
  return {
    find: (_line, { legId, carrierLegId }) =>
      database.run(
        life,
        () =>
          [...database.legs.values()].find(
            (leg) => leg.carrierLegId === carrierLegId || (leg.id === legId && leg.carrierLegId === null),
          ) ?? null,
      ),
    insert: (leg) =>
      database.run(life, () => {
        if (database.legs.has(leg.id)) throw new Fault({ kind: 'store_unreachable' })
        database.legs.set(leg.id, { ...leg, bridgedAtMs: null })
      }),
    dialed: (leg, name) =>
      change(leg, (row) => {
        row.carrierLegId = name
      }),
    answered: (leg, atMs) =>
      change(leg, (row) => {
        row.answeredAtMs ??= atMs
      }),
    ended: (leg, atMs) =>
      change(leg, (row) => {
        row.endedAtMs ??= atMs
      }),
    orphans: (graceMs) => database.run(life, () => database.orphans(graceMs)),
    unattended: () => database.run(life, () => database.unattended()),
  }
}

function callerLeg(call: Call, line: Leg['line'], carrierLegId: string | null): Leg {
  const { organizationId, test, id, phone, createdAtMs } = call
  return {
    ...{ organizationId, test, id: phone?.legId ?? '', callId: id, party: 'caller', line },
    ...{ direction: phone?.direction ?? 'inbound', carrierLegId, createdAtMs },
    ...{ answeredAtMs: null, endedAtMs: null, microUsdPerMinute: null },
  }
}
