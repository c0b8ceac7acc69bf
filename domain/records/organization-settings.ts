/**
 * An organization's settings, made by the operator. The organization itself may change only the settings in
 * `OwnSettings`.
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
  /**
   * An IANA name. Sums by hour and by day use this zone if a request names no zone, and the console writes times in
   * this zone.
   */
  timeZone: string
  /** With `drop`, results of tool calls are not stored. */
  toolResults: Storing
  /** With `drop`, texts of messages are not stored. */
  messageText: Storing
  /** If true, the organization's keys, tokens and sessions are refused. */
  isDisabled: boolean
}

export type Storing = 'keep' | 'drop'

/** The settings that the organization itself may change. */
export type OwnSettings = Pick<
  OrganizationSettings,
  'name' | 'recordingEnabled' | 'timeZone' | 'toolResults' | 'messageText'
>

export const rmsgBackends = ['default', 'receive_only'] as const
export type RmsgBackend = (typeof rmsgBackends)[number]

export type OrganizationRecord = OrganizationSettings & { id: string; creditMicroUsd: number; createdAt: Date }
