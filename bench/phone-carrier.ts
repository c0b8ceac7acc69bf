/**
 * A simulated carrier in a separate process. It measures how late each voice frame reaches the callers' phones. The
 * forked process sends its port and keys, takes the message `{ webhookUrl }` first, and then `{ callTo }` and `{ report
 * }`.
 */
import { systemClock } from '../runtime/timing/clock.ts'
import { type Simulator, startSimulator } from '../simulator/simulator.ts'
import { speechAt } from '../test/speech/samples.ts'

export type CarrierOrder = { webhookUrl: string } | { from: string; callTo: string } | { report: true }
export type CarrierAnswer =
  | { port: number; apiKey: string; publicKey: string }
  | { lateMs: number[]; utterances: number; calls: number }

const frameMs = 20
/**
 * A silence longer than this divides two utterances. A shorter silence is a gap in a voice: the frames after it are
 * late.
 */
const gapMs = 400
const rateHz = 16_000

type Voice = { firstMs: number; lastMs: number; frames: number }
const voices = new Map<string, Voice>()
const lateMs: number[] = []
let utterances = 0
let simulator: Simulator | null = null

process.on('message', (order: CarrierOrder) => void carryOut(order))
process.on('disconnect', () => process.exit(0))
process.send?.({ port: 0 })

async function carryOut(order: CarrierOrder): Promise<void> {
  if ('webhookUrl' in order) {
    const samples = await speechAt('please-try-call-later', rateHz)
    const speak = () => Promise.resolve({ samples, sampleRateHz: rateHz })
    simulator = await startSimulator({ clock: systemClock, speak, webhookUrl: order.webhookUrl, received })
    const { baseUrl, apiKey, publicKey } = simulator
    process.send?.({ port: Number(new URL(baseUrl).port), apiKey, publicKey } satisfies CarrierAnswer)
  } else if ('callTo' in order) simulator?.call({ from: order.from, to: order.callTo })
  else process.send?.({ lateMs, utterances, calls: simulator?.callsCount ?? 0 } satisfies CarrierAnswer)
}

/** Records how late a frame came. An utterance's frames are due 20 ms apart, counted from its first frame. */
function received(number: string, samples: Int16Array | null): void {
  if (samples === null) return
  const nowMs = performance.now()
  const voice = voices.get(number)
  if (voice === undefined || nowMs - voice.lastMs > gapMs) {
    utterances++
    voices.set(number, { firstMs: nowMs, lastMs: nowMs, frames: 1 })
    return
  }
  lateMs.push(Math.max(0, nowMs - voice.firstMs - voice.frames * frameMs))
  voice.lastMs = nowMs
  voice.frames++
}
