/**
 * Detects if a machine answered a warm transfer: from the recipient's first words, from a beep, or from the carrier's
 * report. If the detection takes longer than `timeoutSeconds`, the result is `not_sure` and a later result is ignored.
 */
import { Answering, type OpeningSettings } from '../answering/answering.ts'
import type { PhoneLog } from '../calls/journal.ts'
import type { LineName } from '../ports/phone-line.ts'
import type { Clock } from '../ports/system.ts'
import type { MachineDetection } from '../records/transfer.ts'

export type VoicemailDetectionDeps = {
  clock: Pick<Clock, 'monotonicMs' | 'after'>
  record: Pick<PhoneLog, 'line'>
  /** Called once, if a machine has answered. */
  machine: () => void
}

/**
 * The detection begins when the agent asks the recipient, because this server receives the recipient's voice only from
 * then on. Returns null if machine detection is off.
 */
export function detectVoicemail(
  detection: MachineDetection | null,
  line: LineName,
  settings: OpeningSettings,
  { clock, record, machine }: VoicemailDetectionDeps,
): Answering | null {
  if (detection === null || detection.mode === 'disabled') return null
  // A SIP trunk's company does not detect answering machines, so this server detects them.
  const isSubstitute = detection.mode === 'carrier' && line === 'trunk'
  const mode = isSubstitute ? 'agent' : detection.mode
  const requestedMode = isSubstitute ? { requested_mode: 'carrier' } : {}
  const decided = (result: string, latencyMs: number) =>
    record.line('carrier.machine_detection', {
      leg: 'recipient',
      mode,
      ...requestedMode,
      result,
      latency_ms: latencyMs,
    })
  const plan = { mode, timeoutMs: detection.timeoutSeconds * 1000, action: 'hangup', message: null } as const
  const answering = new Answering(plan, { clock, decided })
  answering.answered()
  // Transfers leave no message on a machine, so a detected machine only ends the attempt.
  answering.begin({ silence() {}, leave() {}, end: () => machine() }, settings)
  return answering
}
