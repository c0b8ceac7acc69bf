/** The secret of an organization, which signs where an endpoint or a tool has none. Live and test keys share it. */
export type WorkspaceSecret = {
  secret: string
  createdAtMs: number
  /** Until then the secret before this one signs too. Null: it does not. */
  previousUntilMs: number | null
}

export interface WorkspaceSecrets {
  /** Makes the secret if the organization has not needed one before. */
  find(organizationId: string): Promise<WorkspaceSecret>
  /** Those that sign now, the new one first; those that were read last where the database does not answer. */
  signingSecrets(organizationId: string): Promise<readonly string[]>
  /** The secret before the last one is dropped. The last one signs for `overlapMs` more. */
  rotate(organizationId: string, overlapMs: number): Promise<WorkspaceSecret>
}
