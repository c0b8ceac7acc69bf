/** An organization's phone number, as listed for the operator together with other organizations' numbers. */
export type ImportedNumberRow = {
  e164: string
  organizationId: string
  organizationName: string
  /** Null if the number belongs to the carrier. */
  connectionName: string | null
  awaitsApproval: boolean
  createdAt: Date
}

export interface NumberImports {
  /** Lists imported numbers that still need the operator's approval. */
  waiting(): Promise<ImportedNumberRow[]>
  /**
   * Lists numbers that several organizations have imported. Rows with the same number follow each other, the oldest
   * first.
   */
  conflicts(): Promise<ImportedNumberRow[]>
  /** Approves an organization's imports of the number. Resolves with false if no import waits for approval. */
  approve(organizationId: string, e164: string): Promise<boolean>
}
