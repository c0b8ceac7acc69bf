/**
 * Runs work on legs concurrently, in one queue (lane) for each carrier and each organization's trunks. If a carrier or
 * trunk does not answer, only work in its lane waits.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Leg } from '../records/leg.ts'

/** The maximum number of concurrent tasks in one lane. Further work in the lane waits. */
const atOnceMax = 32

type Work = { legId: string; run: () => Promise<void> }
type Lane = { underWay: Set<Promise<void>>; waiting: Work[] }
type OfLane = Pick<Leg, 'organizationId' | 'line'>

/**
 * Names a leg's lane. All organizations share a carrier's lane, because a carrier is one API for all. Each organization
 * has a lane for its trunks.
 */
const laneNameOf = ({ line, organizationId }: OfLane) => (line === 'trunk' ? `${line} ${organizationId}` : line)

export class LegWork {
  readonly #clock: Pick<Clock, 'after'>
  readonly #log: Log
  readonly #lanes = new Map<string, Lane>()
  /** Legs with running or waiting work. */
  readonly #legIds = new Set<string>()
  #isClosed = false

  constructor(clock: Pick<Clock, 'after'>, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /**
   * Runs the work at once, or when its lane has capacity again. If the leg already has running or waiting work, this
   * does nothing.
   */
  begin(leg: OfLane & { id: string }, run: () => Promise<void>): void {
    if (this.#isClosed || this.#legIds.has(leg.id)) return
    this.#legIds.add(leg.id)
    const name = laneNameOf(leg)
    const lane = this.#lanes.get(name) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(name, lane)
    lane.waiting.push({ legId: leg.id, run })
    this.#next(name, lane)
  }

  /** Begins no more work, and waits at most `waitMs` for running work. */
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
