/** Runs a sequence of steps with two processes, a database and a carrier. After each event it checks the invariant. */
import { answerMs, type CallCommands, commandMs } from '../../../domain/calls/live/commands.ts'
import { PhoneLineError } from '../../../domain/ports/phone-line.ts'
import type { Call } from '../../../domain/records/call.ts'
import { Fault } from '../../../domain/records/fault.ts'
import type { Leg } from '../../../domain/records/leg.ts'
import { ResourceFault } from '../../../domain/records/resource-fault.ts'
import { isTerminal } from '../../../domain/records/states/call.ts'
import { isOver } from '../../../domain/records/states/transfer.ts'
import { newCall } from '../../calls/call.ts'
import { settled, TestClock } from '../../clock.ts'
import { SequenceCarrier } from './carrier.ts'
import { Database } from './database.ts'
import { Deliveries, oneAlive } from './deliveries.ts'
import { Faults } from './faults.ts'
import { Invariant, type Watched } from './invariant.ts'
import { callerLegId, type LineEvents, type SequenceLine } from './line.ts'
import { dialledTo, type OpenStream, ParleyProcess, user } from './process.ts'
import type { Sequence, Step } from './steps.ts'
import { Tolerance } from './tolerance.ts'
import { SequenceTrunk } from './trunk.ts'

export type Outcome = {
  /** Null if the sequence has kept the invariant, else the violation. */
  failure: string | null
  /** The ends of attempts in this sequence, such as `warm completed - -`. */
  reached: readonly string[]
}

const callId = 'call_1'
const plainCall = newCall(user.organization.id, { test: true, identity: 'caller', status: 'dialing' })
const streamMs = 60
/** A transfer attempt with three destinations ends within `decidedMs`. All legs end within `overMs` after the call. */
const decidedMs = 200_000
const overMs = 120_000

export class World implements Watched {
  readonly clock: TestClock
  readonly faults: Faults
  readonly database: Database
  readonly carrier: SequenceLine
  readonly processes: ParleyProcess[] = []
  /** Errors that were thrown or logged. */
  readonly defects: string[] = []
  /** True if a client has requested the call's end, or the credit is exhausted. */
  isEndWanted = false
  /** The phone line's ids of ended legs, and our ids of legs that the phone line has refused to dial. */
  readonly #gone = new Set<string>()
  readonly #sequence: Sequence
  readonly #trace: string[] | null
  readonly #invariant: Invariant
  readonly #streams = new Map<string, { owner: ParleyProcess; open: OpenStream }>()
  readonly #deliveries: Deliveries
  /** Client requests without an answer yet. */
  readonly #asking = new Map<number, { process: ParleyProcess; does: string }>()
  #ids = 0

  constructor(sequence: Sequence, trace: string[] | null) {
    this.#sequence = sequence
    this.#trace = trace
    const checked = async () => {
      await settled()
      this.#invariant.check()
    }
    this.clock = new TestClock({ quiet: { settled: checked, afterTimer: checked, changes: () => 0 } })
    const tolerance = new Tolerance(this.clock)
    this.faults = new Faults(sequence.seed, sequence.weather, this.clock, tolerance)
    this.database = new Database(this.clock, this.faults, (text) => this.#tell(text))
    const events: LineEvents = {
      deliver: (event, life) =>
        life === null ? Promise.resolve(this.#deliveries.deliver(event)) : this.#deliveries.bring(event, life),
      stream: (id, address) => void this.clock.after(this.faults.delayMs(streamMs), () => this.#stream(id, address)),
      over: (id) => {
        this.#gone.add(id)
        this.#tell(`leg ${id} is over`)
        this.clock.after(this.faults.delayMs(streamMs), () => this.#loseStream(id))
      },
      hangUp: (id) => {
        this.#tell(`hang up ${id}`)
        this.#invariant.hangsUp(id)
      },
      refused: (legId) => void this.#gone.add(legId),
      command: (text) => this.#tell(text),
    }
    this.carrier =
      sequence.line === 'trunk'
        ? new SequenceTrunk(this.clock, this.faults, events)
        : new SequenceCarrier(this.clock, this.faults, events)
    this.#deliveries = new Deliveries({
      ...{ clock: this.clock, faults: this.faults, processes: this.processes },
      tell: (text) => this.#tell(text),
      failed: (error) => this.#defect(error),
      lostHangup: (carrierLegId) => this.carrier.lostHangup(carrierLegId),
    })
    this.#invariant = new Invariant(this, tolerance)
  }

  /** Returns the process that holds the call. */
  get owner(): ParleyProcess | null {
    return this.processes.find(({ agent }) => agent !== null) ?? null
  }

  get call(): Call | null {
    return this.database.calls.get(callId) ?? null
  }

  async run(): Promise<Outcome> {
    const { steps, lastOut } = this.#sequence
    this.#start()
    this.#start()
    this.#begin()
    await this.#until(3_000, () => this.owner !== null)
    for (const step of steps) {
      await this.clock.advance(step.afterMs)
      if (this.#failure !== null) break
      this.#tell(JSON.stringify(step))
      this.#take(step)
    }
    this.faults.heal()
    await this.#until(decidedMs, () => this.#isDecided)
    if (this.#failure === null && !this.#isDecided) this.defects.push('an attempt does not end')
    await this.#leave(lastOut)
    await this.#until(overMs, () => this.#left.length === 0)
    if (this.#failure === null) this.defects.push(...this.#left)
    return { failure: this.#failure, reached: this.#reached }
  }

  get #failure(): string | null {
    return this.defects[0] ?? this.#invariant.failure
  }

  get #isDecided(): boolean {
    const attempts = [...this.database.transfers.values()]
    const isAsking = [...this.#asking.values()].some(({ process }) => process.life.isAlive)
    return !isAsking && attempts.every(({ status }) => isOver(status))
  }

  /**
   * If a process dies while the database is unreachable, it forgets its newest legs. The phone line or their next event
   * ends them.
   */
  isUnnamed(carrierLegId: string): boolean {
    if (this.processes.every(({ life }) => life.isAlive)) return false
    return ![...this.database.legs.values()].some((leg) => leg.carrierLegId === carrierLegId)
  }

  isGone(leg: Pick<Leg, 'id' | 'carrierLegId'>): boolean {
    return this.#gone.has(leg.id) || (leg.carrierLegId !== null && this.#gone.has(leg.carrierLegId))
  }

  /** Returns everything that remains after the call. The list must be empty. */
  get #left(): string[] {
    const { carrier, database, call } = this
    const rows = [...database.legs.values()].filter(({ endedAtMs }) => endedAtMs === null)
    const open = [...database.transfers.values()].filter(({ status }) => !isOver(status))
    const asking = [...this.#asking.values()].filter(({ process }) => process.life.isAlive)
    return [
      ...[...carrier.alive].filter((id) => !this.isUnnamed(id)).map((id) => `the leg ${id} is left`),
      ...rows.map(({ id }) => `the row of ${id} is open`),
      ...open.map(({ id, status }) => `${id} is ${status}`),
      ...asking.map(({ does }) => `a request was not answered: ${does}`),
      // If a caller left before any process could store the call, there is no call.
      ...((call === null ? this.owner === null : isTerminal(call.status)) ? [] : [`the call is ${call?.status}`]),
    ]
  }

  get #reached(): string[] {
    return [...this.database.transfers.values()].map(
      ({ kind, status, failureCause, fallback }) =>
        `${kind} ${status} ${failureCause ?? '-'} ${fallback?.action ?? '-'}`,
    )
  }

  #tell(text: string): void {
    this.#trace?.push(`${this.clock.monotonicMs()} ${text}`)
  }

  async #until(mostMs: number, isDone: () => boolean): Promise<void> {
    const endMs = this.clock.monotonicMs() + mostMs
    while (!isDone() && this.#failure === null && this.clock.monotonicMs() < endMs) await this.clock.advance(500)
  }

  #start(): void {
    const id = `process_${this.processes.length + 1}`
    const newId = (of: string) => `${of}_${++this.#ids}`
    this.processes.push(
      new ParleyProcess({
        ...{ id, clock: this.clock, database: this.database, carrier: this.carrier },
        log: {
          info() {},
          warn: (fields, message) => this.#tell(`${id} warns: ${message} ${causeOf(fields)}`),
          error: (fields, message) => void this.defects.push(`${message} ${causeOf(fields)}`),
        },
        ids: {
          transfer: () => newId('transfer'),
          leg: () => `leg_00000000-0000-0000-0000-${String(++this.#ids).padStart(12, '0')}`,
          event: () => newId('row'),
        },
        send: this.#send,
      }),
    )
  }

  #begin(): void {
    const [owner] = this.processes as [ParleyProcess]
    const { direction } = this.#sequence
    const isInbound = direction === 'inbound'
    const [from, to] = isInbound ? [dialledTo, '+14155550100'] : ['+14155550100', dialledTo]
    const phone = { direction, from, to, forwardedFrom: null, phoneNumberId: 'pn_1' }
    const nowMs = this.clock.nowMs()
    const call: Call = {
      ...plainCall,
      ...{ id: callId, kind: direction, ownerId: owner.id, createdAtMs: nowMs, updatedAtMs: nowMs },
      phone: { ...phone, legId: 'leg_00000000-0000-0000-0000-00000000ca11' },
    }
    if (!isInbound) return void owner.dial(call).catch((error: unknown) => this.#defect(error))
    const carrierLegId = this.carrier.call(from, to, owner.life)
    for (const process of this.processes) process.expects(carrierLegId, { ...call, status: 'queued' })
  }

  readonly #send: CallCommands['send'] = async (_tenant, id, ownerId, command) => {
    const owner = this.processes.find((process) => process.id === ownerId)
    if (owner === undefined || !owner.life.isAlive) return this.clock.wait(commandMs).then(() => null)
    const answer = owner.command(id, command).then((answer) => ({ answer }))
    return Promise.race([answer, this.clock.wait(answerMs).then(() => null)])
  }

  #stream(id: string, address: string): void {
    const process = this.processes.find((each) => address.includes(`/${each.id}/`))
    const open = this.carrier.isAlive(id) ? (process?.stream(id, address.split('?')[0] ?? '') ?? null) : null
    if (process !== undefined && open !== null) this.#streams.set(id, { owner: process, open })
  }

  #loseStream(id: string): void {
    const stream = this.#streams.get(id)
    this.#streams.delete(id)
    if (stream === undefined || stream.open.isClosed || !stream.owner.life.isAlive) return
    stream.open.sink.gone()
  }

  #take(step: Step): void {
    const { owner } = this
    const recipient = [...this.carrier.alive].filter((id) => id !== callerLegId).at(-1) ?? ''
    switch (step.does) {
      case 'blind':
        return this.#ask(step.does, ({ ask }) => ask.blind(user, callId, step.asked))
      case 'warm':
        return this.#ask(step.does, ({ ask }) => ask.warm(user, callId, step.asked))
      case 'complete':
        return this.#ask(step.does, ({ ask }) =>
          ask.complete(user, callId, this.#attempt(step.newest), { recipientIdentity: null }),
        )
      case 'cancel': {
        const wanted = { tryNext: step.tryNext, voicemailDetected: step.voicemailDetected, reason: null }
        return this.#ask(step.does, ({ ask }) => ask.cancel(user, callId, this.#attempt(step.newest), wanted))
      }
      case 'press':
        return this.carrier.presses(recipient, step.key)
      case 'say':
        return owner?.life.isAlive ? owner.agent?.asked?.decided(step.decision) : undefined
      case 'agent speaks':
        return owner?.life.isAlive ? owner.agent?.speak(step.ms) : undefined
      case 'recipient leaves':
        return this.carrier.leaves(recipient)
      case 'caller leaves':
        return this.carrier.leaves(callerLegId)
      case 'end call':
        return this.#endCall()
      case 'credit gone':
        this.isEndWanted = true
        return owner?.life.isAlive ? owner.agent?.creditGone() : undefined
      case 'stream lost':
        // A trunk's audio comes in RTP packets, so there is no stream that could be lost.
        return this.carrier.name === 'trunk'
          ? undefined
          : this.#loseStream(step.of === 'caller' ? callerLegId : recipient)
      case 'database away':
        return this.faults.databaseAway(step.ms)
      case 'line fails':
        return this.faults.lineFails(step.ms, step.how)
      case 'events are lost':
        return this.faults.eventsAreLost(step.ms)
      case 'process dies':
        return this.#kill()
    }
  }

  #attempt(newest: boolean): string {
    const ids = [...this.database.transfers.keys()]
    return (newest ? ids.at(-1) : ids[0]) ?? 'unknown'
  }

  #ask(does: string, request: (process: ParleyProcess) => Promise<unknown>): void {
    const process = oneAlive(this.processes, this.faults)
    const id = ++this.#ids
    this.#asking.set(id, { process, does })
    const answered = (text: string) => {
      this.#asking.delete(id)
      this.#tell(`${does} was ${text}`)
    }
    request(process).then(
      () => answered('carried out'),
      (error: unknown) => {
        this.#defect(error)
        answered(`refused: ${error instanceof Fault || error instanceof ResourceFault ? error.data.kind : 'failed'}`)
      },
    )
  }

  /** Records an unexpected error. Refusals and database outages are expected. */
  #defect(error: unknown): void {
    const isExpected = error instanceof Fault || error instanceof ResourceFault || error instanceof PhoneLineError
    if (!isExpected) this.defects.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }

  #endCall(): void {
    this.isEndWanted = true
    for (const process of this.processes) if (process.life.isAlive) process.endCall(callId)
  }

  #kill(): void {
    const process = this.owner?.life.isAlive ? this.owner : this.processes[0]
    if (process === undefined || !process.life.isAlive) return
    process.die()
    this.faults.happened('dead process', null)
    if (this.processes.every(({ life }) => !life.isAlive)) this.#start()
    this.#deliveries.repeatAllTo(process)
  }

  async #leave(lastOut: Sequence['lastOut']): Promise<void> {
    if (lastOut === 'recipient leaves') {
      const peer = this.carrier.peerOf(callerLegId)
      if (peer !== null) this.carrier.leaves(peer)
      else this.carrier.leaves(callerLegId)
    }
    if (lastOut === 'end call') {
      const { owner } = this
      this.#endCall()
      // A request cannot end the call if no process has taken the call yet, or if this process has died.
      await this.clock.advance(2_000)
      if (owner?.life.isAlive !== true) this.carrier.leaves(callerLegId)
    }
    if (lastOut === 'caller leaves') this.carrier.leaves(callerLegId)
  }
}

const causeOf = (fields: object) => ('err' in fields && fields.err instanceof Error ? fields.err.message : '')
