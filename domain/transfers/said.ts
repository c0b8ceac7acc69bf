import type { Transfer } from './transfer.ts'

/** The words of a request about the attempt that it accepts or ends. */
export type Said = { reason: string | null; summary: string | null }

export const nothingSaid: Said = { reason: null, summary: null }

/** The fields of an attempt with these words, which are stored with its next change. */
export function withSaid(row: Transfer, { reason, summary }: Said): Pick<Transfer, 'summary' | 'metadata'> {
  return {
    summary: summary ?? row.summary,
    metadata: { ...row.metadata, ...(reason !== null && { cancel_reason: reason }) },
  }
}
