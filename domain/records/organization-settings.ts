/** The operator sets these for an organization, which may change its name and whether it records by itself. */
export type OrganizationSettings = {
  name: string
  /** Requests and streams at a time. Null: no limit. */
  maxConcurrency: number | null
  /** Live sessions and calls at a time. Null: no limit. */
  maxSessions: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  /** It sees the whole inventory of rich-message numbers until one is assigned to it. */
  rmsgLegacyInventory: boolean
  /** `receive_only`: rich messages come in, and none can be sent. */
  rmsgBackend: RmsgBackend
  /** One organization at most. */
  adminOrganization: boolean
  recordingEnabled: boolean
  /** Its keys, tokens and sessions are refused. */
  isDisabled: boolean
}

export const rmsgBackends = ['default', 'receive_only'] as const
export type RmsgBackend = (typeof rmsgBackends)[number]

export type OrganizationRecord = OrganizationSettings & { id: string; creditMicroUsd: number; createdAt: Date }
