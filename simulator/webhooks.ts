/**
 * Sends the legs' events, signed with Ed25519 over `<timestamp>|<body>`. A leg's events are first sent in order. If an
 * attempt fails, the event is sent again later and the following events do not wait, as at the real carrier.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import type { WebhookFaults } from './far-ends/magic-numbers.ts'
import type { LocalPools } from './local-pools.ts'
import type { SimulatorClock } from './media/clock.ts'

/** The pauses between the attempts to send an event, and the time limit for each answer. */
type Persistence = { retryMs: readonly number[]; waitMs: number }

const ofCalls: Persistence = { retryMs: [1000, 2000, 4000, 8000], waitMs: 5000 }
/**
 * The time limit is longer than for call events, because the receiver answers only after its subscribers have answered.
 * There are more attempts, because the receiver refuses message events for 15 s after a process has ended.
 */
const ofMessages: Persistence = { retryMs: [1000, 2000, 4000, 8000, 16_000, 32_000], waitMs: 15_000 }

const lateMs = 5000
/**
 * If events are sent late, every second event gets this additional delay, so their order changes. The delay is longer
 * than the second between dialling and answer.
 */
const swapMs = 1500
const againMs = 100

const lost = { no_hangup: 'call.hangup', no_bridged: 'call.bridged', late: null } as const

/** One leg's queue: the events, and the URL to send them to. */
export type WebhookQueue = { url: string; faults: WebhookFaults; sent: number; last: Promise<void> }
export const queueTo = (url: string, faults: WebhookFaults): WebhookQueue => ({
  url,
  faults,
  sent: 0,
  last: Promise.resolve(),
})

/** Returns the public key, 32 bytes in base64. `seed` is the private key, 32 bytes. */
export function publicKeyOf(seed: Uint8Array): string {
  const spki = createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' })
  return spki.subarray(-32).toString('base64')
}

function privateKeyOf(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([keyHead, seed]), format: 'der', type: 'pkcs8' })
}

export class Webhooks {
  /** The public key, 32 bytes in base64, as the carrier's portal shows it. */
  readonly publicKey: string
  readonly #clock: SimulatorClock
  readonly #key: KeyObject
  readonly #pools: LocalPools
  readonly #timers = new Set<() => void>()
  #isClosed = false

  /** `seed` is the private key, 32 bytes. */
  constructor({ clock, seed, pools }: { clock: SimulatorClock; seed: Uint8Array; pools: LocalPools }) {
    this.#clock = clock
    this.#pools = pools
    this.#key = privateKeyOf(seed)
    this.publicKey = publicKeyOf(seed)
  }

  send(queue: WebhookQueue, eventType: string, payload: object): void {
    if (queue.faults !== null && lost[queue.faults] === eventType) return
    const body = JSON.stringify({
      data: {
        record_type: 'event',
        event_type: eventType,
        id: randomUUID(),
        occurred_at: new Date(this.#clock.nowMs()).toISOString(),
        payload,
      },
      meta: { attempt: 1, delivered_to: queue.url },
    })
    const place = queue.sent++
    if (queue.faults !== 'late') {
      queue.last = queue.last.then(() => this.#attempt(queue.url, body, ofCalls))
      return
    }
    const delayMs = lateMs + (place % 2 === 0 ? swapMs : 0)
    for (const moreMs of [0, againMs]) this.#after(delayMs + moreMs, () => void this.#attempt(queue.url, body, ofCalls))
  }

  /** Sends a message event `afterMs` from now. `body` is the whole event as JSON. */
  post(url: string, body: string, afterMs: number): void {
    this.#after(afterMs, () => void this.#attempt(url, body, ofMessages))
  }

  /** Stops sending. An attempt in progress is not repeated if it fails. */
  close(): void {
    this.#isClosed = true
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  /** Tries to send an event. If this fails, schedules the next attempt. Never rejects. */
  async #attempt(url: string, body: string, persistence: Persistence, failures = 0): Promise<void> {
    const { retryMs, waitMs } = persistence
    if (this.#isClosed || (await this.#isDelivered(url, body, waitMs))) return
    const delayMs = retryMs[failures]
    if (delayMs !== undefined) this.#after(delayMs, () => void this.#attempt(url, body, persistence, failures + 1))
  }

  async #isDelivered(url: string, body: string, waitMs: number): Promise<boolean> {
    const timestamp = String(Math.floor(this.#clock.nowMs() / 1000))
    const signature = sign(null, Buffer.from(`${timestamp}|${body}`), this.#key).toString('base64')
    const headers = ['content-type', 'application/json', 'telnyx-timestamp', timestamp]
    try {
      const signed = [...headers, 'telnyx-signature-ed25519', signature]
      const { status } = await this.#pools.request({ method: 'POST', url, headers: signed, body, waitMs })
      return status >= 200 && status < 300
    } catch {
      return false
    }
  }

  #after(delayMs: number, run: () => void): void {
    if (this.#isClosed) return
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
  }
}

/** The DER prefix before an Ed25519 private key's 32 bytes (RFC 8410). */
const keyHead = Buffer.from('302e020100300506032b657004220420', 'hex')
