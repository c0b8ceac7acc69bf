/**
 * Asks a provider whether it accepts a key, with one request that the provider does not charge for. The check is no
 * attempt: the ledger does not list it, and it counts neither for nor against the health of models.
 */
import { admitTrial, type TrialDeps } from '../access/attempts.ts'
import { noCredential, ownKeyIdOf, type ProviderKeyAdministration, type ProviderKeys } from '../access/provider-keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { KeyCheck, Provider, ProviderPorts } from '../ports/provider.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import type { Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, type ResourceFaultData } from '../records/resource-fault.ts'
import { UnderWay } from '../streams/under-way.ts'
import { AttemptSignal, providerError } from './attempt-signal.ts'

/** `succeeded`, or the class of the failure. A check has no content, so the classes about content do not occur. */
export type CheckOutcome = 'succeeded' | Exclude<ErrorClass, 'unsupported' | 'empty' | 'cancelled'>

export type ProviderCheck = {
  outcome: CheckOutcome
  /** `key` if the provider accepts the key, `address` if only a server answers. Null for a failure. */
  proves: 'key' | 'address' | null
  /** The provider's HTTP status. Null if there was no whole answer. */
  providerStatus: number | null
  durationMs: number
}

/**
 * Checks the organization's key for the provider. If the organization has no such key, checks this server's key. Throws
 * ResourceFault.
 */
export type CheckProvider = (tenant: Tenant, provider: string) => Promise<ProviderCheck>

export type CheckProviderDeps = TrialDeps & {
  catalog: Catalog
  keys: ProviderKeys & Pick<ProviderKeyAdministration, 'list'>
  log: Log
}

/** The lowest HTTP status for a refusal. */
export const refusedMin = 400
/** Part of the contract. */
const waitMs = 10_000
/** The checks that an organization may have under way in one process. Part of the contract. */
const checksMax = 4

export function createCheckProvider(deps: CheckProviderDeps): CheckProvider {
  const checks = new UnderWay()
  return async (tenant, id) => {
    const { organizationId } = tenant
    if (checks.of(organizationId) >= checksMax) throw new ResourceFault({ kind: 'checks_under_way', checksMax })
    const end = checks.begin(organizationId)
    try {
      return await check(deps, tenant, id)
    } finally {
      end()
    }
  }
}

async function check(deps: CheckProviderDeps, { organizationId, test }: Tenant, id: string): Promise<ProviderCheck> {
  const { catalog, keys } = deps
  if (test) throw impossible('test_key')
  const provider = catalog.provider(id)
  if (provider === undefined) throw impossible(catalog.hasProvider(id) ? 'no_models' : 'no_key')
  const ownKeyId = ownKeyIdOf(provider, await keys.list(organizationId))
  if (ownKeyId === null && provider.unavailable() === noCredential) throw impossible('no_key')
  const ports = ownKeyId === null ? provider.ports : await portsWithOwnKey(deps, provider, { organizationId, ownKeyId })
  const { keyCheck } = ports
  if (keyCheck === undefined)
    throw new ResourceFault({
      kind: 'invalid',
      issues: [{ path: ['provider'], problem: { kind: 'key_check_missing' } }],
    })
  await admitTrial(deps, 'provider', organizationId)
  return ask(deps, { organizationId, provider: id }, keyCheck)
}

type Because = Extract<ResourceFaultData, { kind: 'provider_check_impossible' }>['because']
const impossible = (because: Because) => new ResourceFault({ kind: 'provider_check_impossible', because })

/** A key that was removed or replaced meanwhile counts as missing. Throws SealError if the key cannot be decrypted. */
async function portsWithOwnKey(
  { keys }: CheckProviderDeps,
  provider: Provider,
  { organizationId, ownKeyId }: { organizationId: string; ownKeyId: string },
): Promise<ProviderPorts> {
  const apiKey = await keys.open(organizationId, provider.id, ownKeyId)
  if (apiKey === null) throw impossible('no_key')
  return (await provider.forKey?.(apiKey)) ?? {}
}

async function ask(
  { clock, log }: CheckProviderDeps,
  ids: { organizationId: string; provider: string },
  { send, needsKey }: KeyCheck,
): Promise<ProviderCheck> {
  const startedMs = clock.monotonicMs()
  // The check goes on if its client disconnects, because it is over soon.
  const { signal: client } = new AbortController()
  const signal = new AttemptSignal(clock, client, waitMs, startedMs + waitMs, null, ids.organizationId)
  const durationMs = () => Math.round(clock.monotonicMs() - startedMs)
  try {
    const providerStatus = await signal.guard(send(signal))
    // A provider may refuse the request with words about a valid key.
    const proves = needsKey || providerStatus >= refusedMin ? 'key' : 'address'
    return { outcome: 'succeeded', proves, providerStatus, durationMs: durationMs() }
  } catch (thrown) {
    const error = providerError(thrown)
    if (error.isOurDefect) throw error
    const failed = { outcome: outcomeOf(error), providerStatus: error.status ?? null, durationMs: durationMs() }
    log.warn({ ...ids, ...failed, reason: error.reason }, 'provider check failed')
    return { ...failed, proves: null }
  } finally {
    signal.close()
  }
}

function outcomeOf({ errorClass }: ProviderError): CheckOutcome {
  // A vendor may call a path unknown with the code for an unknown model.
  if (errorClass === 'unsupported') return 'bad_request'
  if (errorClass === 'empty') return 'protocol'
  // Only the end of the process cancels a check.
  return errorClass === 'cancelled' ? 'unreachable' : errorClass
}
