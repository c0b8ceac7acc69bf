/** The operator sets these for an organization. The organization itself may change its name and whether it records. */
export type OrganizationSettings = {
  name: string
  /** Concurrent requests and streams. Null if unlimited. */
  maxConcurrency: number | null
  /** Concurrent live sessions and calls. Null if unlimited. */
  maxSessions: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  /** The organization sees the whole inventory of rich-message numbers until a number is assigned to it. */
  rmsgLegacyInventory: boolean
  /** With `receive_only`, rich messages come in, but cannot be sent. */
  rmsgBackend: RmsgBackend
  /** At most one organization is the admin organization. */
  adminOrganization: boolean
  recordingEnabled: boolean
  /** If true, the organization's keys, tokens and sessions are refused. */
  isDisabled: boolean
}

export const rmsgBackends = ['default', 'receive_only'] as const
export type RmsgBackend = (typeof rmsgBackends)[number]

export type OrganizationRecord = OrganizationSettings & { id: string; creditMicroUsd: number; createdAt: Date }
