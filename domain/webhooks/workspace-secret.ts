/** An organization's signing secret, for endpoints and tools without a separate secret. Live and test keys share it. */
export type WorkspaceSecret = {
  secret: string
  createdAtMs: number
  /** The previous secret also signs until this time. Null if there is no previous secret. */
  previousUntilMs: number | null
}

export interface WorkspaceSecrets {
  /** Finds the secret. If the organization has no secret yet, it is created. */
  find(organizationId: string): Promise<WorkspaceSecret>
  /**
   * Returns the secrets that sign at present, the new secret first. If the database does not answer, returns the
   * secrets from the last read.
   */
  signingSecrets(organizationId: string): Promise<readonly string[]>
  /** Replaces the secret. The current secret still signs for `overlapMs`. Any older secret stops signing at once. */
  rotate(organizationId: string, overlapMs: number): Promise<WorkspaceSecret>
}
