/**
 * Refuses requests for features that the operator has not enabled for the organization: rich-message numbers, sends as
 * an agent, text messages. This happens before any parameter or body is read. Also refuses the removed operation
 * `sendNumberMessage`, unless the operator still allows it.
 */
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { createRmsgNumbers, type RmsgNumberStore } from '../../domain/rmsg/numbers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { Access } from '../../runtime/engine/operation.ts'
import type { Credentials, Sender } from '../../runtime/engine/options.ts'
import type { LogFields } from '../../runtime/engine/trace-context.ts'
import type { Denials } from '../audit/denials.ts'
import { type AuthenticateDeps, createAuthenticate, nameCaller } from '../authenticate.ts'

export type GateDeps = AuthenticateDeps & {
  rmsgNumbers: RmsgNumberStore
  organizations: { find(id: string): Promise<{ smsEnabled: boolean } | null> }
  /** True if the operator still allows the removed operation `sendNumberMessage`. */
  keepsRemovedSend: boolean
  denials: Denials
}

/** Throws ResourceFault if the operator has not enabled the feature. */
type Gate = (caller: Caller) => Promise<void>

export function createGatedAuthenticate(
  deps: GateDeps,
): (credentials: Credentials, operation: Access & { id: string }, sender: Sender) => Caller | Promise<Caller> {
  const { denials } = deps
  const authenticate = createAuthenticate(deps)
  const gates = gatesOf(deps)
  const admitted = (caller: Caller, gate: Gate | undefined, logFields: LogFields) => {
    nameCaller(logFields, caller)
    return gate === undefined ? caller : gate(caller).then(() => caller)
  }
  return (credentials, operation, sender) => {
    const { logFields } = sender
    const denied = (caller: Caller) => void denials.note(caller, operation, sender)
    const result = authenticate(credentials, operation, denied)
    const gate = gates.get(operation.id)
    if (result instanceof Promise) return result.then((caller) => admitted(caller, gate, logFields))
    return admitted(result, gate, logFields)
  }
}

/** Returns the gate for each gated operation, by its name. */
function gatesOf({ rmsgNumbers, organizations, keepsRemovedSend }: GateDeps): ReadonlyMap<string, Gate> {
  const numbers = createRmsgNumbers(rmsgNumbers)
  const admit: Gate = (caller) => numbers.admit(tenantOf(caller))
  const requireSms: Gate = async ({ organization }) => {
    const settings = await organizations.find(organization.id)
    if (settings?.smsEnabled !== true) throw new ResourceFault({ kind: 'sms_off' })
  }
  return new Map<string, Gate>([
    ...operationsUnder('/v1/rmsg-phone-numbers').map((id) => [id, admit] as const),
    ...operationsUnder('/v1/sms/10dlc').map((id) => [id, requireSms] as const),
    ['sendAgentMessage', (caller) => numbers.requireEnabled(tenantOf(caller))],
    [
      'sendNumberMessage',
      async (caller) => {
        await admit(caller)
        if (!keepsRemovedSend) throw new ResourceFault({ kind: 'endpoint_removed' })
      },
    ],
  ])
}

function operationsUnder(prefix: string): string[] {
  return platformSurface.operations.filter(({ path }) => path.startsWith(prefix)).map(({ id }) => id)
}
