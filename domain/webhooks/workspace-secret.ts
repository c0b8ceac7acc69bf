/** An organization's secret, which signs if an endpoint or a tool has no secret. Live and test keys share it. */
export type WorkspaceSecret = {
  secret: string
  createdAtMs: number
  /** The previous secret also signs until then. Null if no previous secret signs. */
  previousUntilMs: number | null
}

export interface WorkspaceSecrets {
  /** Creates the secret if the organization has not needed one before. */
  find(organizationId: string): Promise<WorkspaceSecret>
  /** The secrets that sign now, the new secret first. If the database does not answer, the last read secrets. */
  signingSecrets(organizationId: string): Promise<readonly string[]>
  /** Replaces the secret. The current secret signs for `overlapMs` more. An older one is dropped. */
  rotate(organizationId: string, overlapMs: number): Promise<WorkspaceSecret>
}
