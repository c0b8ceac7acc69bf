/**
 * Keys that organizations bring for providers, so that the provider bills them directly. Routing ranks providers first. An attempt then goes
 * out with the organization's own key where it has one, else with the operator's credential. A provider with neither is not a candidate.
 */
import type { Provider } from '../ports/provider.ts'
import type { OwnKeys } from '../records/organization.ts'

/** The answer of `Provider.unavailable` where only the operator's credential is missing. */
export const noCredential = 'no_credential'

export interface ProviderKeys {
  /**
   * The key itself, at once where it was used recently. Null: it was deleted or replaced meanwhile. Rejects where it cannot be opened,
   * because it was sealed with a master key that this process does not have.
   */
  open(organizationId: string, provider: string, keyId: string): string | null | Promise<string | null>
}

/** For the organization itself; the key is in no answer. */
export interface ProviderKeyAdministration {
  list(organizationId: string): Promise<OwnKeys>
  /** Replaces the key that is there. */
  put(organizationId: string, provider: string, apiKey: string): Promise<void>
  /** False: the organization has not brought a key for this provider. */
  remove(organizationId: string, provider: string): Promise<boolean>
}

/** The id of the organization's own key that an attempt at this provider goes out with; null is the operator's credential. */
export function ownKeyIdOf({ id, forKey }: Provider, ownKeys: OwnKeys): string | null {
  return forKey && Object.hasOwn(ownKeys, id) ? (ownKeys[id] ?? null) : null
}
