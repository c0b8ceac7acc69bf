/** Reads calls from their rows. */
import type { CallSummary } from '../../domain/calls/store.ts'
import type { Call, CallKind, CallPhone, RecordingStatus } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import type { CallStatus, EndReason } from '../../domain/records/states/call.ts'
import type { Tx } from '../postgres/connect.ts'

export type SummaryRow = {
  organizationId: string
  test: boolean
  id: string
  agentId: string | null
  keyId: string
  status: CallStatus
  kind: CallKind
  phone: CallPhone | null
  language: string
  /** JSON text, because an identity can contain U+0000 and Postgres text cannot. */
  identity: string
  createdAt: Date
  updatedAt: Date
  expiresAt: Date
  startedAt: Date | null
  endedAt: Date | null
  endReason: EndReason | null
  recordingStatus: RecordingStatus | null
  recordingDurationMs: number | null
  ownerId: string | null
}

type CallRow = SummaryRow & {
  /** If an earlier version stored the call, there is no transport. */
  pipeline: Omit<Pipeline, 'transport'> & Partial<Pick<Pipeline, 'transport'>>
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
}

export const callColumns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, agent_id as "agentId", key_id as "keyId", status, kind, phone, language,
  identity,
  created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", started_at as "startedAt",
  ended_at as "endedAt", end_reason as "endReason", recording_status as "recordingStatus",
  recording_duration_ms as "recordingDurationMs", owner_id as "ownerId"`

export const ofCall = (tx: Tx, { organizationId, test }: Tenant, id: string) =>
  tx`where organization_id = ${organizationId} and test = ${test} and id = ${id}`

/** Returns an SQL condition for a call's rows in another table. */
export const ofCallId = (tx: Tx, { organizationId, test }: Tenant, id: string) =>
  tx`where organization_id = ${organizationId} and test = ${test} and call_id = ${id}`

export type SecretColumns = { bytes: Buffer; sealedBy: string } | { bytes: null; sealedBy: null }

/** Reads a call. If `locks` is true, no other transaction changes the call until this transaction ends. */
export async function readCall(
  tx: Tx,
  tenant: Tenant,
  id: string,
  locks = false,
): Promise<{ call: Call; secrets: SecretColumns } | null> {
  const [row] = await tx<(CallRow & SecretColumns)[]>`
    select ${callColumns(tx)}, pipeline, metadata, webhook_tags as "webhookTags", sealed as bytes, sealed_by as "sealedBy"
    from calls ${ofCall(tx, tenant, id)} ${locks ? tx`for update` : tx``}`
  if (!row) return null
  const { bytes, sealedBy, ...call } = row
  return { call: callOf(call), secrets: { bytes, sealedBy } as SecretColumns }
}

export function summaryOf(row: SummaryRow): CallSummary {
  return { ...commonOf(row), language: row.language }
}

function callOf(row: CallRow): Call {
  const { pipeline, metadata, webhookTags } = row
  return { ...commonOf(row), pipeline: { transport: 'websocket', ...pipeline }, metadata, webhookTags }
}

function commonOf(row: SummaryRow): Omit<CallSummary, 'language'> {
  return {
    id: row.id,
    organizationId: row.organizationId,
    test: row.test,
    agentId: row.agentId,
    keyId: row.keyId,
    status: row.status,
    kind: row.kind,
    phone: row.phone,
    identity: JSON.parse(row.identity) as string,
    createdAtMs: row.createdAt.getTime(),
    updatedAtMs: row.updatedAt.getTime(),
    expiresAtMs: row.expiresAt.getTime(),
    startedAtMs: row.startedAt?.getTime() ?? null,
    endedAtMs: row.endedAt?.getTime() ?? null,
    endReason: row.endReason,
    recordingStatus: row.recordingStatus,
    recordingDurationMs: row.recordingDurationMs,
    ownerId: row.ownerId,
  }
}
