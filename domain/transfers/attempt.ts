/** One attempt to reach a recipient. */
import type { Answering } from '../answering/answering.ts'
import type { Screening } from '../conversation/parts/transferable.ts'
import type { NotDialed } from '../records/not-dialed.ts'
import { isOver } from '../records/states/transfer.ts'
import type { Destination, Transfer, TransferSettings } from '../records/transfer.ts'
import type { CourseEffect } from './plan.ts'
import type { Recipient } from './recipient.ts'
import { type RequestNotes, withNotes } from './request-notes.ts'

export type Attempt = {
  row: Transfer
  destination: Destination
  recipient: Recipient
  screening: Screening | null
  /**
   * Detects an answering machine while the agent asks the recipient. Null if detection is off, or if the carrier has
   * already detected a machine or a person.
   */
  detection: Answering | null
  /** True if the carrier detected a machine or a person before the agent asked the recipient. */
  isJudged: boolean
  /** True if the carrier is dialling or has refused the dial command. */
  isSettled: boolean
  /** The reason why the carrier refused the attempt. Null if it did not refuse. */
  notDialed: NotDialed | null
}

/**
 * The attempt's row after a change of its status. `notes` are the reasons and summaries in the request for the change.
 */
export function changedRow(
  row: Transfer,
  { status, cause, then }: Extract<CourseEffect, { type: 'changed' }>,
  { fallback }: TransferSettings,
  notes: RequestNotes,
  nowMs: number,
): Transfer {
  const voicemailDetected = cause === 'voicemail' || row.voicemailDetected
  return {
    ...row,
    ...{ status, failureCause: cause, voicemailDetected, updatedAtMs: nowMs },
    ...withNotes(row, notes),
    fallback: then === 'fallback' ? { ...fallback, voicemailDetected } : null,
    completedAtMs: isOver(status) ? nowMs : null,
  }
}
