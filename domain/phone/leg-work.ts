/**
 * Work on legs, side by side. A carrier that does not answer, or the trunks of an organization, make neither the legs of
 * others wait nor the next look for legs.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Leg } from '../records/leg.ts'

/** The legs of one lane that are worked on at once. The others wait for their turn. */
const atOnceMax = 32

type Work = { legId: string; run: () => Promise<void> }
type Lane = { underWay: Set<Promise<void>>; waiting: Work[] }
type OfLane = Pick<Leg, 'organizationId' | 'line'>

/** A carrier is one API for all organizations. A trunk belongs to one, and so does what it delays. */
const laneNameOf = ({ line, organizationId }: OfLane) => (line === 'trunk' ? `${line} ${organizationId}` : line)

export class LegWork {
  readonly #clock: Pick<Clock, 'after'>
  readonly #log: Log
  readonly #lanes = new Map<string, Lane>()
  /** The legs that are worked on, or wait for it. */
  readonly #legIds = new Set<string>()
  #isClosed = false

  constructor(clock: Pick<Clock, 'after'>, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Runs at once, or when it is its turn. A leg that is worked on already, or waits for it, is left alone. */
  begin(leg: OfLane & { id: string }, run: () => Promise<void>): void {
    if (this.#isClosed || this.#legIds.has(leg.id)) return
    this.#legIds.add(leg.id)
    const name = laneNameOf(leg)
    const lane = this.#lanes.get(name) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(name, lane)
    lane.waiting.push({ legId: leg.id, run })
    this.#next(name, lane)
  }

  /** Begins no more work, and waits at most `waitMs` for what is under way. */
  async close(waitMs: number): Promise<void> {
    this.#isClosed = true
    for (const { waiting } of this.#lanes.values()) waiting.length = 0
    const underWay = [...this.#lanes.values()].flatMap((lane) => [...lane.underWay])
    if (underWay.length === 0) return
    let cancelWait = () => {}
    const timeUp = new Promise<void>((resolve) => {
      cancelWait = this.#clock.after(waitMs, resolve)
    })
    await Promise.race([Promise.all(underWay), timeUp])
    cancelWait()
  }

  #next(name: string, lane: Lane): void {
    const work = lane.underWay.size < atOnceMax ? lane.waiting.shift() : undefined
    if (work === undefined) return
    const ended = this.#run(work).then(() => {
      lane.underWay.delete(ended)
      this.#next(name, lane)
      if (lane.underWay.size === 0) this.#lanes.delete(name)
    })
    lane.underWay.add(ended)
  }

  async #run({ legId, run }: Work): Promise<void> {
    try {
      await run()
    } catch (err) {
      this.#log.error({ err, legId }, 'the work on a leg has failed')
    } finally {
      this.#legIds.delete(legId)
    }
  }
}
