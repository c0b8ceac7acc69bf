/** The limits of the API key that sends a request, for operations that give access to others. */
import type { ApiKey, KeyAdministration } from '../../domain/access/api-keys.ts'
import { type KeyBounds, widerField } from '../../domain/access/key-bounds.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { Refusal } from '../../runtime/engine/handler.ts'

export const boundsOf = ({ policy, expiresAt }: ApiKey): KeyBounds => ({
  policy,
  expiresAtMs: expiresAt?.getTime() ?? null,
})

/** Throws if an API key would give access beyond its limits, to another key or to itself. A person has no limits. */
export async function requireWithinOwn(
  keys: Pick<KeyAdministration, 'get'>,
  caller: Caller,
  wanted: KeyBounds,
): Promise<void> {
  const own = caller.role === undefined ? await keys.get(caller.organization.id, caller.keyId) : null
  const field = own && widerField(boundsOf(own), wanted)
  if (field === null) return
  throw new Refusal('forbidden', {
    message: `This key has a limit in ${field}, so it cannot give access beyond this limit to a key or a person.`,
    hint: `Give ${field} a value within the limit of the key that sends the request, or use a key without the limit.`,
  })
}

/** Throws if the API key has a limit. People have no limits, so an invited person could make a key without limits. */
export function requireNoLimits(keys: Pick<KeyAdministration, 'get'>, caller: Caller): Promise<void> {
  return requireWithinOwn(keys, caller, { policy: {}, expiresAtMs: null })
}
