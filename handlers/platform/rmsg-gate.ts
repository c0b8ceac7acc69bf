/** Refuses requests of organizations without rich-message numbers, before a body is read. */
import { type Caller, type Keys, tenantOf } from '../../domain/access/organization.ts'
import { createRmsgNumbers, type RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { Credentials } from '../../runtime/engine/options.ts'
import { createAuthenticate } from '../authenticate.ts'

const gated = new Set(
  platformSurface.operations.filter(({ path }) => path.startsWith('/v1/rmsg-phone-numbers')).map(({ id }) => id),
)

export type GateDeps = { keys: Keys; rmsgNumbers: RmsgNumberStore }

export function createGatedAuthenticate({
  keys,
  rmsgNumbers,
}: GateDeps): (credentials: Credentials, scope: string, operationId: string) => Caller | Promise<Caller> {
  const authenticate = createAuthenticate(keys)
  const numbers = createRmsgNumbers(rmsgNumbers)
  const admitted = async (caller: Caller) => {
    await numbers.admit(tenantOf(caller))
    return caller
  }
  return (credentials, scope, operationId) => {
    const found = authenticate(credentials, scope)
    if (!gated.has(operationId)) return found
    return found instanceof Promise ? found.then(admitted) : admitted(found)
  }
}
