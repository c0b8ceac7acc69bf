/** Stores new calls. A phone call is stored together with the caller's leg. */
import type { CallStore } from '../../domain/calls/store.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Call } from '../../domain/records/call.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents } from './call-entries.ts'
import { writeFacts } from './call-facts.ts'
import { insertLeg } from './call-legs.ts'
import { ofCall, type SecretColumns } from './call-rows.ts'
import { sealOf } from './call-secrets.ts'
import { createMicroseconds } from './call-times.ts'

export type NewCallDeps = { worlds: Worlds; sealer: () => Sealer; clock: Clock }

export function createNewCalls({
  worlds,
  sealer,
  clock,
}: NewCallDeps): Pick<CallStore, 'insert' | 'insertPhoned' | 'reconfigure'> {
  const microseconds = createMicroseconds()
  return {
    insert: (call, secrets, events = []) =>
      worlds.asTenant(call, async (tx) => {
        await insert(tx, call, microseconds(call.createdAtMs), sealOf(sealer, call, secrets))
        await writeFacts(tx, [call.id], clock.nowMs(), false)
        await insertEvents(tx, call, events, clock.nowMs())
      }),
    insertPhoned: (call, secrets, leg) =>
      ifNew(() =>
        worlds.asTenant(call, async (tx) => {
          await insert(tx, call, microseconds(call.createdAtMs), sealOf(sealer, call, secrets))
          await writeFacts(tx, [call.id], clock.nowMs(), false)
          await insertLeg(tx, leg)
          if (call.phone?.direction === 'inbound') await noteFirstCall(tx, call)
          if (call.test) await noteSimulatedTrunk(tx, call)
        }),
      ),
    reconfigure: (call, secrets) => {
      const { bytes, sealedBy } = sealOf(sealer, call, secrets)
      return worlds.asTenant(call, async (tx) => {
        const { pipeline, metadata } = call
        await tx`
          update calls set language = ${pipeline.intent.language}, pipeline = ${jsonText(pipeline)}::text::json,
            metadata = ${jsonText(metadata)}::text::json, sealed = ${bytes}, sealed_by = ${sealedBy}
          ${ofCall(tx, call, call.id)} and ended_at is null`
      })
    },
  }
}

async function insert(tx: Tx, call: Call, createdAt: string, { bytes, sealedBy }: SecretColumns): Promise<void> {
  const { organizationId, test, id, agentId, keyId, status, kind, phone, identity, pipeline } = call
  await tx`
    insert into calls (organization_id, test, id, agent_id, key_id, status, kind, phone, owner_id, language, identity,
      agent_version, pipeline, metadata, webhook_tags, sealed, sealed_by, created_at, updated_at, expires_at)
    values (${organizationId}, ${test}, ${id}, ${agentId}, ${keyId}, ${status}, ${kind},
      ${phone === null ? null : jsonText(phone)}::text::json, ${call.ownerId}, ${pipeline.intent.language},
      ${jsonText(identity)}, ${pipeline.agentVersion ?? null}, ${jsonText(pipeline)}::text::json, ${jsonText(call.metadata)}::text::json,
      ${jsonText(call.webhookTags)}::text::json, ${bytes}, ${sealedBy}, ${createdAt}::text::timestamptz,
      ${new Date(call.updatedAtMs)}, ${new Date(call.expiresAtMs)})`
  await notifyCallChange(tx, call)
}

/**
 * Records an imported number's first call. Until then the number shows a notice: the trunk must send its calls here.
 */
async function noteFirstCall(tx: Tx, { organizationId, test, phone, createdAtMs }: Call): Promise<void> {
  await tx`
    update phone_numbers set first_called_at = ${new Date(createdAtMs)}
    where organization_id = ${organizationId} and test = ${test} and id = ${phone?.phoneNumberId ?? null}
      and first_called_at is null`
}

/**
 * Marks a test number's SIP connection as ready. The trunk line does this for live numbers, but test calls go over the
 * simulator, which has no SIP connections.
 */
async function noteSimulatedTrunk(tx: Tx, { organizationId, test, phone, createdAtMs }: Call): Promise<void> {
  await tx`
    update sip_connections c set status = 'ready', updated_at = ${new Date(createdAtMs)}
    from phone_numbers n
    where n.organization_id = ${organizationId} and n.test = ${test} and n.id = ${phone?.phoneNumberId ?? null}
      and c.organization_id = n.organization_id and c.test = n.test and c.id = n.sip_connection_id
      and c.status = 'unverified'`
}

/** Runs an insert. Returns false if a leg with this carrier id exists already. */
async function ifNew(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (isUniqueViolation(error, 'call_legs_of_carrier')) return false
    throw error
  }
}

const jsonText = (value: unknown) => JSON.stringify(value)
