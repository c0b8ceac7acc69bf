import type { Transfer } from '../records/transfer.ts'

/** The notes of a request about the attempt that the request accepts or ends. */
export type RequestNotes = { reason: string | null; summary: string | null }

export const noNotes: RequestNotes = { reason: null, summary: null }

/** The fields of an attempt with these notes, which are stored with its next change. */
export function withNotes(row: Transfer, { reason, summary }: RequestNotes): Pick<Transfer, 'summary' | 'metadata'> {
  return {
    summary: summary ?? row.summary,
    metadata: { ...row.metadata, ...(reason !== null && { cancel_reason: reason }) },
  }
}
