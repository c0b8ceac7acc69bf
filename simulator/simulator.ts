/**
 * A simulated carrier. It speaks the real carrier's HTTP API, signs its webhooks and opens media stream sockets, so the
 * code for real calls also serves simulated calls, unchanged. It connects only to this machine.
 *
 *   our commands ──HTTP──► server ──► calls ──► legs ──► far ends (people, machines)
 *   our webhooks ◄─signed─ webhooks ◄────────────┤
 *   our sockets  ◄─────── media streams ◄────────┘   one ticker plays 20 ms of all legs
 */
import { createHmac, randomBytes } from 'node:crypto'
import { Brands } from './brands.ts'
import { Calls, type IncomingCall } from './calls.ts'
import { Campaigns } from './campaigns.ts'
import type { Voice } from './far-ends/far-end.ts'
import { LocalPools } from './local-pools.ts'
import { Clip, type Speech } from './media/clip.ts'
import type { SimulatorClock } from './media/clock.ts'
import { newLegId } from './neighbours.ts'
import { NumberInventory } from './numbers.ts'
import { ReviewClock } from './review-clock.ts'
import { RichMessages } from './rich-messages.ts'
import { listen } from './server.ts'
import { Webhooks } from './webhooks.ts'

export type SimulatorOptions = {
  clock: SimulatorClock
  /** Synthesizes a far end's text in this base language. */
  speak: (text: string, language: string) => Promise<Speech>
  /** Returns an utterance's recognized words, so that far ends react to "goodbye". `legId` is the carrier's id. */
  recognize?: (speech: Speech, legId: string) => Promise<string>
  /** The URL for events, unless a command names another URL. */
  webhookUrl: string
  /**
   * 32 bytes. If simulators on one machine share this seed, they sign with the same key and forward commands for each
   * other's legs.
   */
  signingSeed?: Uint8Array
  /**
   * Called with all audio received by far ends, in 20 ms frames, or with null for silence. A frame is valid only until
   * the function returns. `number` is the far end's number.
   */
  received?: (number: string, samples: Int16Array | null, sampleRateHz: number) => void
}

export type Simulator = {
  /** The API's URL with the version, without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: string
  /** The key for checking webhook signatures: 32 bytes in base64. */
  readonly publicKey: string
  /** The number of open calls. */
  readonly callsCount: number
  /**
   * Starts a call from a simulated caller to us, and returns its id at the carrier. Throws if there are too many calls.
   */
  call(call: IncomingCall): string
  /** Moves the clock for reviews and orders forward, and returns its time. */
  advance(byMs: number): number
  /** Ends all calls. */
  close(): Promise<void>
}

export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock, speak, recognize, webhookUrl, signingSeed = randomBytes(32), received } = options
  const pools = new LocalPools(clock)
  const webhooks = new Webhooks({ clock, seed: signingSeed, pools })
  let port = 0
  const calls = new Calls({
    clock,
    voice: clipsOf(speak),
    recognize: recognize ?? null,
    webhooks,
    webhookUrl,
    received: received
      ? ({ details }, samples, rateHz) =>
          received(details.direction === 'incoming' ? details.from : details.to, samples, rateHz)
      : null,
    newLegId: () => newLegId(port),
  })
  const apiKey = `KEY${createHmac('sha256', signingSeed).update('api key').digest('hex')}`
  const messages = new RichMessages({ clock, webhooks })
  const reviews = new ReviewClock(clock)
  const numbers = new NumberInventory(reviews)
  const brands = new Brands(reviews)
  const campaigns = new Campaigns(reviews, brands)
  const listening = await listen({ calls, numbers, brands, campaigns, messages, apiKey, pools })
  const { server } = listening
  port = listening.port
  return {
    baseUrl: `http://127.0.0.1:${port}/v2`,
    apiKey,
    publicKey: webhooks.publicKey,
    get callsCount() {
      return calls.legs.size
    },
    call: (call) => calls.receive(call),
    advance: (byMs) => reviews.advance(byMs),
    async close() {
      calls.close()
      webhooks.close()
      await pools.close()
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
    },
  }
}

/**
 * The maximum number of cached clips; the newest clips are kept. The limit is needed because the calling code may pass
 * any number of texts.
 */
const clipsMax = 200

function clipsOf(speak: SimulatorOptions['speak']): Voice {
  const clips = new Map<string, Promise<Clip>>()
  return {
    clip(text, language) {
      const key = `${language} ${text}`
      const cached = clips.get(key)
      if (cached) return cached
      const clip = speak(text, language).then((speech) => new Clip(speech))
      clips.set(key, clip)
      // If a text could not be synthesized, the next request for the text tries again.
      clip.catch(() => clips.delete(key))
      const [oldest] = clips.keys()
      if (clips.size > clipsMax && oldest !== undefined) clips.delete(oldest)
      return clip
    },
  }
}
