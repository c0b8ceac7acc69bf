/**
 * Finds out whether a machine has answered a warm transfer: from the first words of the recipient, or from a beep, or by
 * asking the carrier. A verdict that takes longer than `timeoutSeconds` is `not_sure`, and a later one does not count.
 */
import { Answering } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { LineName } from '../ports/phone-line.ts'
import type { Clock } from '../ports/system.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { MachineDetection } from '../records/transfer.ts'

export type VoicemailDetectionDeps = {
  clock: Pick<Clock, 'monotonicMs' | 'after'>
  record: Pick<PhoneLog, 'line'>
  /** Called once. */
  machine: () => void
}

/** It begins with the screening, which reports the voice to its observer. Null: nobody looks for machines. */
export function detectVoicemail(
  wanted: MachineDetection | null,
  line: LineName,
  { firstMessage, intent }: Pick<Pipeline, 'firstMessage' | 'intent'>,
  { clock, record, machine }: VoicemailDetectionDeps,
): Answering | null {
  if (wanted === null || wanted.mode === 'disabled') return null
  // The company behind a trunk does not recognize machines.
  const isSubstitute = wanted.mode === 'carrier' && line === 'trunk'
  const mode = isSubstitute ? 'agent' : wanted.mode
  const asked = isSubstitute ? { requested_mode: 'carrier' } : {}
  const decided = (result: string, latencyMs: number) =>
    record.line('carrier.machine_detection', {
      leg: 'recipient',
      mode,
      ...asked,
      result,
      latency_ms: latencyMs,
    })
  const plan = { mode, timeoutMs: wanted.timeoutSeconds * 1000, action: 'hangup', message: null } as const
  const answering = new Answering(plan, { clock, decided })
  answering.answered()
  // Without a message to leave, the end is all that a machine leads to.
  answering.begin({ silence() {}, leave() {}, end: () => machine() }, { firstMessage, intent })
  return answering
}
