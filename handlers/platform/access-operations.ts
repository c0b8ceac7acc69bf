/** The operations on the access to the organization: its API keys and its people. */
import type { Members } from '../../domain/access/members.ts'
import { type KeysDeps, keyOperations } from './keys.ts'
import { memberOperations } from './members.ts'

export type AccessDeps = Omit<KeysDeps, 'keys'> & {
  apiKeys: KeysDeps['keys']
  members: Members
}

export function accessOperations(deps: AccessDeps) {
  return {
    ...keyOperations({ ...deps, keys: deps.apiKeys }),
    ...memberOperations(deps.members),
  }
}
