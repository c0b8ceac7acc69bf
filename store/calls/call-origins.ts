/** Reads who started a call, and when its recording began. */
import type { CallOrigin } from '../../domain/calls/store.ts'
import type { Call } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { readableJson } from '../postgres/row-values.ts'
import { ofCall, ofCallId } from './call-rows.ts'

type OriginRow = {
  agentName: string | null
  keyName: string | null
  callbackId: string | null
  recordingStartedAt: Date | null
}

export async function readOrigin(tx: Tx, tenant: Tenant, id: string): Promise<OriginRow | undefined> {
  const [row] = await tx<OriginRow[]>`
    select
      (select ${readableJson(tx, 'settings')}->'name' from agents a
        where a.organization_id = calls.organization_id and a.test = calls.test and a.id = agent_id) as "agentName",
      (select name from api_keys k where k.organization_id = calls.organization_id and k.id = key_id) as "keyName",
      -- A client can write any metadata, so the callback must name this call too.
      (select b.id from callbacks b
        where b.organization_id = calls.organization_id and b.test = calls.test
          and b.id = ${readableJson(tx, 'metadata')}->>'callbackId' and b.created_session_id = calls.id) as "callbackId",
      (select min(occurred_at) from call_events ${ofCallId(tx, tenant, id)} and type = 'recording.recording')
        as "recordingStartedAt"
    from calls ${ofCall(tx, tenant, id)}`
  return row
}

export function originOf(call: Call, row: OriginRow | undefined): CallOrigin {
  return {
    agentName: row?.agentName ?? null,
    startedBy: startedBy(call, row),
    recordingStartedAtMs: row?.recordingStartedAt?.getTime() ?? null,
  }
}

function startedBy({ keyId: id, phone }: Call, row: OriginRow | undefined): CallOrigin['startedBy'] {
  if (row?.callbackId) return { type: 'callback', id: row.callbackId, name: null }
  if (phone?.direction === 'inbound') return { type: 'phone_number', id, name: phone.to }
  if (id.startsWith('usr_')) return { type: 'user', id, name: null }
  return { type: 'api_key', id, name: row?.keyName ?? null }
}
