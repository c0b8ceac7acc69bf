/**
 * Adds validators to the generated tables of each API: the server then checks every response, stream event and socket
 * frame against the contract before sending it. Tests and development do this. The build leaves this module out,
 * because it would bring Ajv and all contracts.
 */
import { ContractValidators } from '../codegen/contract-validators.ts'
import { carrierContract } from '../generated/carrier/contract.ts'
import { compatContract } from '../generated/compat/contract.ts'
import { internalContract } from '../generated/internal/contract.ts'
import { platformContract } from '../generated/platform/contract.ts'
import { realtimeContract } from '../generated/realtime/contract.ts'
import { routerContract } from '../generated/router/contract.ts'
import { sessionContract } from '../generated/session/contract.ts'
import type { Channel } from '../runtime/engine/channel.ts'
import type { Operation, ResponseShape } from '../runtime/engine/operation.ts'
import type { Mount, SocketMount } from '../runtime/engine/options.ts'

const contracts: Readonly<Record<string, string>> = {
  carrier: carrierContract,
  compat: compatContract,
  internal: internalContract,
  platform: platformContract,
  realtime: realtimeContract,
  router: routerContract,
  session: sessionContract,
}

const bySurface = new Map<string, ContractValidators>()

/** Returns the validators of a contract. Null if no contract has this name. */
export function validatorsOf(surface: string): ContractValidators | null {
  const contract = contracts[surface]
  const cached = bySurface.get(surface)
  if (cached !== undefined || contract === undefined) return cached ?? null
  const made = new ContractValidators(contract)
  bySurface.set(surface, made)
  return made
}

export function withAnswerChecks(mount: Mount): Mount {
  const { surface } = mount
  const validators = validatorsOf(surface.name)
  if (validators === null) return mount
  const operations = surface.operations.map((operation) => checkedOperation(operation, validators))
  return { ...mount, surface: { ...surface, operations } }
}

export function withFrameChecks(mount: SocketMount): SocketMount {
  const { surface } = mount
  const validators = validatorsOf(surface.name)
  if (validators === null) return mount
  const channels = surface.channels.map((channel) => checkedChannel(channel, validators))
  return { ...mount, surface: { ...surface, channels } }
}

function checkedOperation(operation: Operation, validators: ContractValidators): Operation {
  const responses = Object.entries(operation.responses).map(([status, shape]): [string, ResponseShape] => {
    const validate = validators.answer(operation.id, status)
    const events = validators.events(operation.id, status)
    return [status, { ...shape, ...(validate && { validate }), ...(events && { events }) }]
  })
  return { ...operation, responses: Object.fromEntries(responses) }
}

function checkedChannel(channel: Channel, validators: ContractValidators): Channel {
  const sends = validators.frames(channel.id)
  return sends === null ? channel : { ...channel, sends }
}
