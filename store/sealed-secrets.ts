import type { Log } from '../domain/ports/system.ts'
import { sealedProviderKeys } from './access/provider-keys.ts'
import { sealedTools } from './agents/agent-tools.ts'
import { sealedCalls } from './calls/call-secrets.ts'
import { sealedSubscriptions } from './messages/rmsg-subscriptions.ts'
import { sealedConnections } from './numbers/sip-connection-rows.ts'
import type { Tenancy } from './postgres/tenant.ts'
import { countUnreadable, type Resealed, resealTable, type SealedTable } from './sealing/reseal.ts'
import type { Sealed, Sealer } from './sealing/sealed.ts'
import { sealedEndpoints } from './webhooks/webhook-endpoint-rows.ts'
import { sealedWebhookSecrets } from './webhooks/webhook-secrets.ts'

/**
 * All secrets at rest: provider keys, webhook secrets, and the secrets of tools, webhook endpoints, subscriptions, SIP
 * connections and live calls.
 */
export type SealedSecrets = {
  /** Seals all secrets again with the current master key. */
  reseal(): Promise<Resealed>
  /** Counts the secrets sealed with a master key that this process does not have. */
  unreadable(): Promise<number>
}

export function createSealedSecrets(tenancy: Tenancy, sealer: () => Sealer): SealedSecrets {
  const reseal = <Row extends Sealed>(table: SealedTable<Row>) => resealTable(tenancy, sealer(), table)
  const unreadable = ({ table }: { table: string }) => countUnreadable(tenancy, sealer(), table)
  return {
    async reseal() {
      const tables = [
        await reseal(sealedProviderKeys),
        await reseal(sealedTools),
        await reseal(sealedCalls),
        await reseal(sealedWebhookSecrets),
        await reseal(sealedEndpoints),
        await reseal(sealedConnections),
        await reseal(sealedSubscriptions),
      ]
      return {
        resealed: tables.reduce((sum, { resealed }) => sum + resealed, 0),
        failed: tables.reduce((sum, { failed }) => sum + failed, 0),
      }
    },
    async unreadable() {
      const tables = [
        sealedProviderKeys,
        sealedTools,
        sealedCalls,
        sealedWebhookSecrets,
        sealedEndpoints,
        sealedConnections,
        sealedSubscriptions,
      ]
      let count = 0
      for (const table of tables) count += await unreadable(table)
      return count
    },
  }
}

/**
 * After the operator has set a new master key, every process moves the secrets to it. When no secret is left under the
 * old key, that key can be removed.
 */
export async function tendSecrets(secrets: SealedSecrets, log: Log): Promise<void> {
  const { resealed, failed } = await secrets.reseal()
  if (resealed > 0) log.info({ resealed }, 'sealed secrets were moved to the current master key')
  if (failed > 0) log.error({ failed }, 'sealed secrets do not open with the master key that sealed them')
}
