/** Writes agents' versions in the change's transaction. The agent's row must be locked. */
import type { Author } from '../../domain/records/author.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'

/** An agent keeps at most this many versions. */
const versionsMax = 500
/** An agent's settings and tools can take 1 MB, so its versions are also limited by their size. */
const bytesMax = 16 * 1024 * 1024

export type VersionOf = Tenant & { agentId: string }

/** `restoredFrom` is the restored version, or null for any other change. */
export type NewVersion = { changed: readonly string[]; by: Author; restoredFrom: number | null; nowMs: number }

/**
 * Stores the agent's present state under its version, unless this version is stored already. Call this before the
 * change: an agent from a previous server version has no stored version yet.
 */
export async function keepPresent(tx: Tx, of: VersionOf): Promise<void> {
  await tx`
    insert into agent_versions (${versionColumns(tx)}, created_at)
    select ${stateColumns(tx)}, '[]'::json, null, null, null, null, a.updated_at
    ${stateOf(tx, of)}
    on conflict do nothing`
}

/** Stores the agent's state after a change as a new version. Returns the version's number. */
export async function addVersion(tx: Tx, of: VersionOf, version: NewVersion): Promise<number> {
  await tx`update agents a set version = a.version + 1 ${whereAgent(tx, of)}`
  return storeVersion(tx, of, version)
}

/** Stores a new agent's state as its first version. */
export async function addFirstVersion(tx: Tx, of: VersionOf, version: NewVersion): Promise<void> {
  await storeVersion(tx, of, version)
}

async function storeVersion(tx: Tx, of: VersionOf, { changed, by, restoredFrom, nowMs }: NewVersion) {
  const [row] = await tx<{ version: number }[]>`
    insert into agent_versions (${versionColumns(tx)}, created_at)
    select ${stateColumns(tx)}, ${JSON.stringify(changed)}::text::json, ${restoredFrom}::integer, ${by.type}::text,
      ${by.id}::text,
      (select k.name from api_keys k where k.organization_id = ${of.organizationId} and k.id = ${by.id}),
      ${new Date(nowMs)}::timestamptz
    ${stateOf(tx, of)}
    returning version`
  if (row === undefined) throw new Error('the agent of a version is gone')
  await trim(tx, of, row.version)
  return row.version
}

/** Deletes the oldest versions beyond the limits. The newest version always stays. */
async function trim(tx: Tx, of: VersionOf, newest: number): Promise<void> {
  await tx`
    delete from agent_versions ${whereVersions(tx, of)} and version < ${newest} and version <= (
      select max(version) from (
        select version, sum(bytes) over newer as size, row_number() over newer as place
        from agent_versions ${whereVersions(tx, of)} window newer as (order by version desc)
      ) sized where size > ${bytesMax} or place > ${versionsMax})`
}

export const whereVersions = (tx: Tx, { organizationId, test, agentId }: VersionOf) =>
  tx`where organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId}`

const whereAgent = (tx: Tx, { organizationId, test, agentId }: VersionOf) =>
  tx`where a.organization_id = ${organizationId} and a.test = ${test} and a.id = ${agentId}`

const versionColumns = (tx: Tx) => tx`
  organization_id, test, agent_id, version, settings, tools, bytes, changed, restored_from, created_by_type,
  created_by_id, created_by_name`

const stateColumns = (tx: Tx) => tx`
  a.organization_id, a.test, a.id, a.version, a.settings, t.tools,
  octet_length(a.settings::text) + octet_length(t.tools::text)`

/** Selects the tools, newest first. Their secrets are in other columns, and these are not read. */
const stateOf = (tx: Tx, of: VersionOf) => tx`
  from agents a cross join lateral (
    select coalesce(json_agg(json_build_object('id', id, 'name', name, 'shown', shown,
      'createdAtMs', floor(extract(epoch from created_at) * 1000)::bigint,
      'updatedAtMs', floor(extract(epoch from updated_at) * 1000)::bigint) order by position desc), '[]'::json) as tools
    from agent_tools
    where organization_id = a.organization_id and test = a.test and agent_id = a.id
  ) t
  ${whereAgent(tx, of)}`
