/**
 * Work on legs, side by side. A line that does not answer makes neither the other legs wait nor the next look for legs, and
 * it takes no place of another line.
 */
import type { LineName } from '../ports/phone-line.ts'
import type { Clock, Log } from '../ports/system.ts'

/** The legs of one line that are worked on at once. The others wait for their turn. */
const atOnceMax = 32

type Work = { legId: string; run: () => Promise<void> }
type Lane = { underWay: Set<Promise<void>>; waiting: Work[] }

export class LegWork {
  readonly #clock: Pick<Clock, 'after'>
  readonly #log: Log
  readonly #lanes = new Map<LineName, Lane>()
  /** The legs that are worked on, or wait for it. */
  readonly #legIds = new Set<string>()
  #isClosed = false

  constructor(clock: Pick<Clock, 'after'>, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /** Runs at once, or when it is its turn. A leg that is worked on already, or waits for it, is left alone. */
  begin({ id: legId, line }: { id: string; line: LineName }, run: () => Promise<void>): void {
    if (this.#isClosed || this.#legIds.has(legId)) return
    this.#legIds.add(legId)
    const lane = this.#lanes.get(line) ?? { underWay: new Set(), waiting: [] }
    this.#lanes.set(line, lane)
    lane.waiting.push({ legId, run })
    this.#next(lane)
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

  #next(lane: Lane): void {
    const work = lane.underWay.size < atOnceMax ? lane.waiting.shift() : undefined
    if (work === undefined) return
    const ended = this.#run(work).then(() => {
      lane.underWay.delete(ended)
      this.#next(lane)
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
