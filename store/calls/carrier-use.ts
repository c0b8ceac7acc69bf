/** Counts the time and cost of all legs ended by this process. */
import type { Leg } from '../../domain/records/leg.ts'
import { costOfSeconds, secondsOf } from '../../domain/records/leg-costs.ts'

type Kind = Pick<Leg, 'line' | 'direction'>
export type CarrierTotal = Kind & { seconds: number; microUsd: number }

const kinds: readonly Kind[] = (['carrier', 'simulator', 'trunk'] as const).flatMap((line) =>
  (['inbound', 'outbound'] as const).map((direction) => ({ line, direction })),
)

export class CarrierUse {
  readonly #totals: readonly CarrierTotal[] = kinds.map((kind) => ({ ...kind, seconds: 0, microUsd: 0 }))

  /** Adds an ended leg. A leg without a known price adds its time but no cost. */
  add({ line, direction }: Kind, durationMs: number, microUsdPerMinute: number | null): void {
    const total = this.#totals.find((each) => each.line === line && each.direction === direction)
    if (total === undefined) return
    const seconds = secondsOf(durationMs)
    total.seconds += seconds
    total.microUsd += microUsdPerMinute === null ? 0 : costOfSeconds(microUsdPerMinute, seconds)
  }

  read(): readonly CarrierTotal[] {
    return this.#totals
  }
}
