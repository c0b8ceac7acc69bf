/** Random sequences of steps. A seed always gives the same sequence. */
import { fallbackActions } from '../../../domain/records/transfer.ts'
import type { BlindRequest, WarmRequest } from '../../../domain/records/transfer-request.ts'
import { random } from '../../random.ts'
import { type CommandFault, commandFaults, type Weather } from './faults.ts'

export type Step = { afterMs: number } & (
  | { does: 'blind'; asked: BlindRequest }
  | { does: 'warm'; asked: WarmRequest }
  /** If `newest` is true, the request is for the newest transfer attempt, otherwise for the first attempt. */
  | { does: 'complete'; newest: boolean }
  | { does: 'cancel'; newest: boolean; tryNext: boolean; voicemailDetected: boolean }
  | { does: 'press'; key: '1' | '2' }
  | { does: 'say'; decision: 'accepted' | 'declined' }
  | { does: 'agent speaks'; ms: number }
  | { does: 'recipient leaves' }
  | { does: 'caller leaves' }
  | { does: 'end call' }
  | { does: 'credit gone' }
  | { does: 'stream lost'; of: 'caller' | 'recipient' }
  | { does: 'database away'; ms: number }
  | { does: 'line fails'; ms: number; how: CommandFault }
  /** All events are lost for `ms`. Only sequences written by hand use it. */
  | { does: 'events are lost'; ms: number }
  | { does: 'process dies' }
)

export type Sequence = {
  seed: number
  weather: Weather
  direction: 'inbound' | 'outbound'
  /** If absent, the simulated carrier. */
  line?: 'trunk'
  steps: readonly Step[]
  /** How the call ends if it has not ended before. */
  lastOut: 'caller leaves' | 'recipient leaves' | 'end call'
}

const stepsMax = 14
/**
 * The last digits of the recipients' numbers. Some recipients answer, at once or after 20 s. Other recipients never
 * answer, are busy, decline, are machines, or leave by themselves.
 */
const recipients = ['01', '02', '03', '04', '05', '06', '07', '08', '11', '17', '20', '21', '22', '23', '24'] as const
const pauses = [0, 0, 10, 50, 100, 300, 900, 1000, 1100, 2000, 4900, 5000, 5100, 8000, 12_000] as const
const outages = [300, 3_000, 9_000, 16_000] as const
/**
 * By this time the agent has said its first words. If a sentence is longer than the ringing, the agent is still
 * speaking when a person answers.
 */
const greetingMs = 1_600

export function sequenceOf(seed: number): Sequence {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  const number = () => `+150055500${next() < 0.5 ? '06' : pick(recipients)}`
  const warm = (): WarmRequest => ({
    destinations: Array.from({ length: 1 + Math.floor(next() * 3) }, () => ({ to: number() })),
    ringingTimeout: pick([1, 5, 8]),
    screeningTimeout: pick([5, 9]),
    fallback: { strategy: pick(fallbackActions), message: 'Nobody is free.' },
    voicemailDetection: { mode: pick(['agent', 'carrier'] as const) },
  })
  const one = (): Step => {
    const afterMs = pick(pauses)
    const which = next()
    if (which < 0.15) return { afterMs, does: 'warm', asked: warm() }
    if (which < 0.24) return { afterMs, does: 'blind', asked: { to: number(), ringingTimeout: pick([1, 5, 8]) } }
    if (which < 0.36) return { afterMs, does: 'complete', newest: next() < 0.85 }
    if (which < 0.48) {
      const isTried = { tryNext: next() < 0.6, voicemailDetected: next() < 0.2 }
      return { afterMs, does: 'cancel', newest: next() < 0.85, ...isTried }
    }
    if (which < 0.57) return { afterMs, does: 'press', key: pick(['1', '1', '2'] as const) }
    if (which < 0.63) return { afterMs, does: 'say', decision: pick(['accepted', 'declined'] as const) }
    if (which < 0.7) return { afterMs, does: 'agent speaks', ms: pick([200, 3000, 7000]) }
    if (which < 0.78) return { afterMs, does: 'recipient leaves' }
    if (which < 0.82) return { afterMs, does: 'caller leaves' }
    if (which < 0.84) return { afterMs, does: 'end call' }
    if (which < 0.85) return { afterMs, does: 'credit gone' }
    if (which < 0.89) return { afterMs, does: 'stream lost', of: pick(['caller', 'recipient'] as const) }
    if (which < 0.93) return { afterMs, does: 'database away', ms: pick(outages) }
    if (which < 0.97) return { afterMs, does: 'line fails', ms: pick(outages), how: pick(commandFaults) }
    return { afterMs, does: 'process dies' }
  }
  const weather = pick(['calm', 'late events', 'storm'] as const)
  const direction = pick(['inbound', 'outbound'] as const)
  const first: Step =
    next() < 0.7
      ? { afterMs: pick(pauses), does: 'warm', asked: warm() }
      : { afterMs: pick(pauses), does: 'blind', asked: { to: number(), ringingTimeout: pick([1, 5, 8]) } }
  const steps = [first, ...Array.from({ length: Math.floor(next() * stepsMax) }, one)]
  const lastOut = pick(['caller leaves', 'recipient leaves', 'end call'] as const)
  const before: Step[] = next() < 0.25 ? [{ afterMs: greetingMs, does: 'agent speaks', ms: pick([3000, 7000]) }] : []
  return { seed, weather, direction, steps: [...before, ...steps], lastOut }
}
