/** Refuses requests of organizations that the operator has not admitted, before a body is read: to rich-message numbers and to text messages. */
import { type Caller, type Keys, tenantOf } from '../../domain/access/organization.ts'
import { ResourceFault } from '../../domain/resource-fault.ts'
import { createRmsgNumbers, type RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { Credentials } from '../../runtime/engine/options.ts'
import { createAuthenticate } from '../authenticate.ts'

export type GateDeps = {
  keys: Keys
  rmsgNumbers: RmsgNumberStore
  organizations: { find(id: string): Promise<{ smsEnabled: boolean } | null> }
}

/** Throws ResourceFault. */
type Gate = (caller: Caller) => Promise<void>

export function createGatedAuthenticate(
  deps: GateDeps,
): (credentials: Credentials, scope: string, operationId: string) => Caller | Promise<Caller> {
  const authenticate = createAuthenticate(deps.keys)
  const gates = gatesOf(deps)
  const admitted = async (caller: Caller, gate: Gate) => {
    await gate(caller)
    return caller
  }
  return (credentials, scope, operationId) => {
    const found = authenticate(credentials, scope)
    const gate = gates.get(operationId)
    if (gate === undefined) return found
    return found instanceof Promise ? found.then((caller) => admitted(caller, gate)) : admitted(found, gate)
  }
}

/** By operation. */
function gatesOf({ rmsgNumbers, organizations }: GateDeps): ReadonlyMap<string, Gate> {
  const numbers = createRmsgNumbers(rmsgNumbers)
  const ofPath: readonly [string, Gate][] = [
    ['/v1/rmsg-phone-numbers', async (caller) => void (await numbers.admit(tenantOf(caller)))],
    [
      '/v1/sms/10dlc',
      async ({ organization }) => {
        const settings = await organizations.find(organization.id)
        if (settings?.smsEnabled !== true) throw new ResourceFault({ kind: 'sms_off' })
      },
    ],
  ]
  return new Map(
    platformSurface.operations.flatMap(({ id, path }) => {
      const [, gate] = ofPath.find(([prefix]) => path.startsWith(prefix)) ?? []
      return gate === undefined ? [] : [[id, gate] as const]
    }),
  )
}
