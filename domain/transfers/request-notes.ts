import type { Transfer } from '../records/transfer.ts'

/** Texts from the request that completes or cancels an attempt. */
export type RequestNotes = { reason: string | null; summary: string | null }

export const noNotes: RequestNotes = { reason: null, summary: null }

/** Returns the attempt's fields with this reason and summary. They are stored with the attempt's next change. */
export function withNotes(row: Transfer, { reason, summary }: RequestNotes): Pick<Transfer, 'summary' | 'metadata'> {
  return {
    summary: summary ?? row.summary,
    metadata: { ...row.metadata, ...(reason !== null && { cancel_reason: reason }) },
  }
}
