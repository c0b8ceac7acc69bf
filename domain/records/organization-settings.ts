/**
 * An organization's settings, made by the operator. The organization itself may change only its name and the recording
 * setting.
 */
export type OrganizationSettings = {
  name: string
  /** The limit for concurrent requests and streams. Null if unlimited. */
  maxConcurrency: number | null
  /** The limit for concurrent live sessions and calls. Null if unlimited. */
  maxSessions: number | null
  smsEnabled: boolean
  rmsgEnabled: boolean
  /** If true, the organization sees the whole inventory of rich-message numbers until a number is assigned to it. */
  rmsgLegacyInventory: boolean
  /** With `receive_only`, rich messages are received but cannot be sent. */
  rmsgBackend: RmsgBackend
  /** True for the admin organization. At most one organization has this setting. */
  adminOrganization: boolean
  recordingEnabled: boolean
  /** If true, the organization's keys, tokens and sessions are refused. */
  isDisabled: boolean
}

export const rmsgBackends = ['default', 'receive_only'] as const
export type RmsgBackend = (typeof rmsgBackends)[number]

export type OrganizationRecord = OrganizationSettings & { id: string; creditMicroUsd: number; createdAt: Date }
