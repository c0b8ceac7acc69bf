/**
 * Keys that organizations bring for providers, so that the provider bills them directly. Of each call: the router ranks providers; the one it tries
 * is called with the organization's own key where there is one, else with the operator's credential, and with neither it is no candidate.
 */
import type { Provider } from '../ports/provider.ts'
import type { OwnKeys } from './organization.ts'

/** What `Provider.unavailable` says where only the operator's credential is missing. */
export const noCredential = 'no_credential'

export interface ProviderKeys {
  /**
   * The key itself, at once where it was used lately. Null: it was deleted or replaced meanwhile. Rejects where it cannot be opened: it was sealed
   * with a master key that this process does not have.
   */
  open(organizationId: string, provider: string, keyId: string): string | null | Promise<string | null>
}

/** For the organization itself; the key is in no answer. */
export interface ProviderKeyAdministration {
  list(organizationId: string): Promise<OwnKeys>
  /** Replaces the key that is there. */
  put(organizationId: string, provider: string, apiKey: string): Promise<void>
  /** False: there is none. */
  remove(organizationId: string, provider: string): Promise<boolean>
}

/** The id of the key that a call to this provider goes out with; null is the operator's credential. */
export function ownKeyIdOf({ id, forKey }: Provider, ownKeys: OwnKeys): string | null {
  return forKey && Object.hasOwn(ownKeys, id) ? (ownKeys[id] ?? null) : null
}
