/** Chooses the colours of states. */
import type { CallOutcome, CallStatus } from '../../../generated/clients/typescript/models/platform.ts'
import type { Tone } from './badge.tsx'

const statusTones: Partial<Record<CallStatus, Tone>> = {
  in_progress: 'accent',
  transferring: 'accent',
  ringing: 'calm',
  dialing: 'calm',
  failed: 'alarm',
  busy: 'warn',
  no_answer: 'warn',
  voicemail: 'warn',
}

const outcomeTones: Partial<Record<CallOutcome, Tone>> = {
  resolved: 'good',
  completed: 'good',
  transferred: 'calm',
  callback_scheduled: 'calm',
  unresolved: 'warn',
  voicemail: 'warn',
  failed: 'alarm',
}

export const toneOfStatus = (status: CallStatus): Tone => statusTones[status] ?? 'plain'
export const toneOfOutcome = (outcome: CallOutcome): Tone => outcomeTones[outcome] ?? 'plain'

/** A turn that takes longer is slow to callers: most people expect an answer within a second. */
export const slowMs = 1500
