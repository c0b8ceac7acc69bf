/**
 * Places calls as a careful client does: a request without an answer is repeated with its idempotency key until the
 * call is accepted. Each call is to another number, so the carrier's legs show if a phone was called twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { OwnCarrier } from '../process/own-carrier.ts'
import { send, type Target } from '../router/requests.ts'
import { loopbackAgent } from '../session/voice-session.ts'

const everyMs = 250
const repeatMs = 500
/**
 * After the load has ended, refused call requests are repeated for this long. A minute's calls wait by then, and a
 * server has places for 200 (sessions.max).
 */
const settleMs = 60_000

type Placing = { to: string; isAccepted: boolean }

export class Calls {
  readonly #target: Target
  readonly #carrier: OwnCarrier
  readonly #from: string
  readonly #placings: Placing[] = []
  readonly #ended: Promise<unknown>[] = []
  #isOver = false
  #endMs = Infinity

  /** `from` is a phone number of the target's organization. */
  constructor(target: Target, carrier: OwnCarrier, from: string) {
    this.#target = target
    this.#carrier = carrier
    this.#from = from
  }

  start(): void {
    this.#ended.push(this.#placeAll())
  }

  /** Ends the load. Returns the number of calls whose phone rang twice, or never although the call was accepted. */
  async end(say: (line: string) => void): Promise<number> {
    this.#isOver = true
    this.#endMs = performance.now() + settleMs
    while (this.#ended.length > 0) await this.#ended.pop()
    const dialled = (to: string) => this.#carrier.legs.filter((leg) => leg.to === to).length
    const twice = this.#placings.filter(({ to }) => dialled(to) > 1).length
    const accepted = this.#placings.filter(({ isAccepted }) => isAccepted)
    const never = accepted.filter(({ to }) => dialled(to) === 0).length
    say(
      `calls: ${accepted.length} of ${this.#placings.length} accepted, ${twice} dialled twice, ${never} never dialled`,
    )
    return twice + never
  }

  async #placeAll(): Promise<void> {
    while (!this.#isOver) {
      const placing = { to: `+1415${2_000_000 + this.#placings.length}`, isAccepted: false }
      this.#placings.push(placing)
      this.#ended.push(this.#place(placing))
      await sleep(everyMs)
    }
  }

  async #place(placing: Placing): Promise<void> {
    const body = JSON.stringify({ to: placing.to, from: this.#from, ...loopbackAgent })
    const headers = { 'content-type': 'application/json', 'idempotency-key': `call-${placing.to}` }
    while (performance.now() < this.#endMs) {
      const answer = await send(this.#target, '/v1/sessions/phone', { method: 'POST', body, headers }).catch(() => null)
      placing.isAccepted = answer?.status === 200
      if (placing.isAccepted) return this.#hangUp(placing.to)
      await sleep(repeatMs)
    }
  }
  /**
   * Ends the call, because ringing calls count for the limits. If the event does not arrive, the call rings until its
   * time is up.
   */
  async #hangUp(to: string): Promise<void> {
    const leg = this.#carrier.legs.find((leg) => leg.to === to)
    if (leg !== undefined) await this.#carrier.hangUp(leg, this.#target.url).catch(() => {})
  }
}
