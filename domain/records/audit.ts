/** The person, key or command that changes an organization. */
import type { Caller } from './organization.ts'

/**
 * A person, an API key, the operator with a command on the database, or the server itself. Only a person and a key have
 * an id.
 */
export type Actor = { type: 'user' | 'api_key' | 'operator' | 'system'; id: string | null }

export const operator: Actor = { type: 'operator', id: null }

export function actorOf({ role, keyId }: Caller): Actor {
  return { type: role === undefined ? 'api_key' : 'user', id: keyId }
}
