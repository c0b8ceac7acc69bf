/** Finds out from the first words of a recipient, or from a beep, whether a machine has answered a warm transfer. */
import { Answering } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { LineName } from '../ports/phone-line.ts'
import type { Clock } from '../ports/system.ts'
import type { Pipeline } from '../sessions/pipeline.ts'
import type { MachineDetection } from './transfer.ts'

export type VoicemailDetectionDeps = {
  clock: Pick<Clock, 'monotonicMs' | 'after'>
  record: Pick<PhoneLog, 'line'>
  /** Called once. */
  machine: () => void
}

/** It begins with the screening, which reports the voice to its observer. Null: the line decides, or nobody. */
export function detectVoicemail(
  wanted: MachineDetection | null,
  line: LineName,
  { firstMessage, intent }: Pick<Pipeline, 'firstMessage' | 'intent'>,
  { clock, record, machine }: VoicemailDetectionDeps,
): Answering | null {
  if (wanted === null || wanted.mode === 'disabled') return null
  // The company behind a trunk does not recognize machines.
  const isSubstitute = wanted.mode === 'carrier' && line === 'trunk'
  if (wanted.mode === 'carrier' && !isSubstitute) return null
  const asked = isSubstitute ? { requested_mode: 'carrier' } : {}
  const decided = (result: string, latencyMs: number) =>
    record.line('carrier.machine_detection', {
      leg: 'recipient',
      mode: 'agent',
      ...asked,
      result,
      latency_ms: latencyMs,
    })
  const plan = { mode: 'agent', timeoutMs: wanted.timeoutSeconds * 1000, action: 'hangup', message: null } as const
  const answering = new Answering(plan, { clock, decided })
  answering.answered()
  // Without a message to leave, the end is all that a machine leads to.
  answering.begin({ silence() {}, leave() {}, end: () => machine() }, { firstMessage, intent })
  return answering
}
