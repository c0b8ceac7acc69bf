/** Ends sessions and tokens. Each process forgets an ended secret at once. */
import { type KeyChange, notifyKeyChange } from '../caches/key-changes.ts'
import type { Tx } from '../postgres/connect.ts'

/** Forgets a cached key in this process, because the NOTIFY arrives a little later. */
export type Forget = (change: KeyChange) => void

type Ended = { lookups: readonly string[]; organizationIds: readonly string[] }

/** Ends all sessions and tokens of a person, or only the session `id`, and then their sockets and event streams. */
export async function endCredentials(tx: Tx, userId: string, id: string | null = null): Promise<Ended> {
  const ended = await tx<{ lookup: string; organizationId: string }[]>`
    delete from user_credentials where user_id = ${userId} and (${id}::text is null or lookup = ${id})
    returning lookup, organization_id as "organizationId"`
  for (const { lookup } of ended) await notifyKeyChange(tx, { lookup })
  const organizationIds = [...new Set(ended.map(({ organizationId }) => organizationId))]
  // A changed secret ends no open socket or event stream. Processes check these only if an organization changes, so
  // such a change is sent too.
  for (const organizationId of organizationIds) await notifyKeyChange(tx, { organizationId })
  return { lookups: ended.map(({ lookup }) => lookup), organizationIds }
}
