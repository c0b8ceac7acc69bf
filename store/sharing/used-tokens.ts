import type { UsedTokens } from '../../domain/access/ephemeral.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'

export type StoredUsedTokens = UsedTokens & {
  /** Deletes expired tokens. */
  sweep(): Promise<void>
}

/**
 * A used token is kept this much longer than it is valid. Another process's clock may be behind, and if the token were
 * deleted too early, it could be used again there.
 */
export const clockSkewMs = 60_000

export function createUsedTokens(system: Sql, tenancy: Tenancy, clock: Clock): StoredUsedTokens {
  return {
    spend: (organizationId, tokenId, expiresAtMs) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx`
          insert into used_tokens (organization_id, token_id, expires_at)
          values (${organizationId}, ${tokenId}, ${new Date(expiresAtMs)})
          on conflict do nothing returning token_id`
        return rows.length > 0
      }),
    async sweep() {
      await system`delete from used_tokens where expires_at < ${new Date(clock.nowMs() - clockSkewMs)}`
    },
  }
}
