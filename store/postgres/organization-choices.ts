import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from './connect.ts'

/**
 * Returns an SQL condition: the organization stores this content. Statements read the choice themselves, so that a
 * change takes effect at once in every process, also for calls that began before.
 */
export function keeps(
  tx: Tx,
  { organizationId }: Pick<Tenant, 'organizationId'>,
  column: 'tool_results' | 'message_text',
) {
  return tx`(select ${tx(column)} = 'keep' from organizations where id = ${organizationId})`
}
