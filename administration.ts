/** Joins the commands of the operator with the store. */
import { type Admin, createAdmin } from './cli/admin.ts'
import { CommandError } from './cli/command-error.ts'
import { type KeyPolicy, scopes } from './domain/access/organization.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { PolicyError, policyFields, readKeyPolicy } from './handlers/key-policy.ts'
import { businessVerificationsOf } from './phone-numbers.ts'
import type { Store } from './store/store.ts'

export function administrationOf(config: ParleyConfig, store: Store): Admin {
  return createAdmin(
    { ...store, verifications: businessVerificationsOf(config, store) },
    { scopes, readPolicy, policyFields },
  )
}

function readPolicy(policy: unknown): KeyPolicy {
  try {
    return readKeyPolicy(policy)
  } catch (error) {
    throw error instanceof PolicyError ? new CommandError(`--policy: ${error.message}`) : error
  }
}
