import type { Transfer } from '../records/transfer.ts'

/** A request's notes about the attempt it accepts or ends. */
export type RequestNotes = { reason: string | null; summary: string | null }

export const noNotes: RequestNotes = { reason: null, summary: null }

/** The attempt's fields with these notes. They are stored with its next change. */
export function withNotes(row: Transfer, { reason, summary }: RequestNotes): Pick<Transfer, 'summary' | 'metadata'> {
  return {
    summary: summary ?? row.summary,
    metadata: { ...row.metadata, ...(reason !== null && { cancel_reason: reason }) },
  }
}
