/**
 * Brings the phone line's events to processes. If a process cannot store an event, the carrier repeats the event, but a
 * trunk does not.
 */
import type { LegEvent } from '../../../domain/ports/phone-line.ts'
import type { TestClock } from '../../clock.ts'
import type { Faults } from './faults.ts'
import type { Life } from './life.ts'
import type { ParleyProcess } from './process.ts'

/** The carrier's delays before it repeats an event. */
const repeatMs = [1000, 2000, 4000, 8000]

type DeliveryDeps = {
  clock: TestClock
  faults: Faults
  processes: readonly ParleyProcess[]
  tell: (text: string) => void
  failed: (error: unknown) => void
  /** Is called when the carrier no longer repeats a leg's hang-up event. */
  lostHangup: (carrierLegId: string) => void
}

export class Deliveries {
  readonly #deps: DeliveryDeps
  /** Events without a process's answer yet. */
  readonly #open = new Map<LegEvent, { process: ParleyProcess; repeat: () => void }>()

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  /** Delivers a trunk's event to the trunk's process. */
  async bring(event: LegEvent, life: Life): Promise<void> {
    const { processes, tell, failed } = this.#deps
    const process = processes.find((each) => each.life === life)
    tell(`${event.type} of ${event.carrierLegId} to ${process?.id}`)
    try {
      await process?.received('trunk', event)
    } catch (error) {
      failed(error)
      throw error
    }
  }

  /** Delivers a carrier's event to a process, after this many failures. */
  deliver(event: LegEvent, failures = 0): void {
    const { clock, faults, processes, tell, failed } = this.#deps
    const process = oneAlive(processes, faults)
    tell(`${event.type} of ${event.carrierLegId} to ${process.id}`)
    const delayMs = repeatMs[failures]
    const repeat = () => {
      if (!this.#open.delete(event)) return
      if (delayMs === undefined) return this.#lost(event)
      clock.after(delayMs, () => this.deliver(event, failures + 1))
    }
    this.#open.set(event, { process, repeat })
    process.received('simulator', event).then(
      () => this.#open.delete(event),
      (error: unknown) => {
        failed(error)
        repeat()
      },
    )
  }

  /** Repeats the events without this process's answer, because the process has died. */
  repeatAllTo(process: ParleyProcess): void {
    for (const delivery of [...this.#open.values()]) if (delivery.process === process) delivery.repeat()
  }

  #lost({ type, carrierLegId }: LegEvent): void {
    if (type === 'hangup') this.#deps.lostHangup(carrierLegId)
  }
}

/** Chooses the oldest or the newest living process. */
export function oneAlive(processes: readonly ParleyProcess[], faults: Faults): ParleyProcess {
  const alive = processes.filter(({ life }) => life.isAlive)
  return alive[faults.either() ? 0 : alive.length - 1] as ParleyProcess
}
