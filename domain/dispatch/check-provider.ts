/**
 * Asks a provider whether it accepts a key, with one request that the provider does not charge for. The check is no
 * attempt: the ledger does not list it, and it counts neither for nor against the health of models.
 */
import { admitTrial, type TrialDeps } from '../access/attempts.ts'
import { noCredential, ownKeyIdOf, type ProviderKeyAdministration, type ProviderKeys } from '../access/provider-keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Provider, ProviderPorts } from '../ports/provider.ts'
import type { ErrorClass, ProviderError } from '../ports/provider-error.ts'
import type { Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { AttemptSignal, providerError } from './attempt-signal.ts'

/** `succeeded`, or the class of the failure. A check has no content, so the classes about content do not occur. */
export type CheckOutcome = 'succeeded' | Exclude<ErrorClass, 'unsupported' | 'empty' | 'cancelled'>

export type ProviderCheck = {
  outcome: CheckOutcome
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

/** Part of the contract. */
const waitMs = 10_000
/** The checks that an organization may have under way in one process. Part of the contract. */
const checksMax = 4

export function createCheckProvider(deps: CheckProviderDeps): CheckProvider {
  const underWay = new Map<string, number>()
  return async (tenant, id) => {
    const { organizationId } = tenant
    const count = underWay.get(organizationId) ?? 0
    if (count >= checksMax) throw new ResourceFault({ kind: 'checks_under_way', checksMax })
    underWay.set(organizationId, count + 1)
    try {
      return await check(deps, tenant, id)
    } finally {
      const left = (underWay.get(organizationId) ?? 1) - 1
      if (left === 0) underWay.delete(organizationId)
      else underWay.set(organizationId, left)
    }
  }
}

async function check(deps: CheckProviderDeps, { organizationId, test }: Tenant, id: string): Promise<ProviderCheck> {
  const { catalog, keys } = deps
  const provider = catalog.provider(id)
  // Requests with test keys reach no provider.
  if (provider === undefined || test) throw keyMissing()
  const ownKeyId = ownKeyIdOf(provider, await keys.list(organizationId))
  if (ownKeyId === null && provider.unavailable() === noCredential) throw keyMissing()
  const ports = ownKeyId === null ? provider.ports : await portsWithOwnKey(deps, provider, { organizationId, ownKeyId })
  const { checkKey } = ports
  if (checkKey === undefined)
    throw new ResourceFault({
      kind: 'invalid',
      issues: [{ path: ['provider'], problem: { kind: 'key_check_missing' } }],
    })
  await admitTrial(deps, 'provider', organizationId)
  return ask(deps, { organizationId, provider: id }, checkKey)
}

const keyMissing = () => new ResourceFault({ kind: 'provider_key_missing' })

/** A key that was removed or replaced meanwhile counts as missing. Throws SealError if the key cannot be decrypted. */
async function portsWithOwnKey(
  { keys }: CheckProviderDeps,
  provider: Provider,
  { organizationId, ownKeyId }: { organizationId: string; ownKeyId: string },
): Promise<ProviderPorts> {
  const apiKey = await keys.open(organizationId, provider.id, ownKeyId)
  if (apiKey === null) throw keyMissing()
  return (await provider.forKey?.(apiKey)) ?? {}
}

async function ask(
  { clock, log }: CheckProviderDeps,
  asked: { organizationId: string; provider: string },
  checkKey: NonNullable<ProviderPorts['checkKey']>,
): Promise<ProviderCheck> {
  const startedMs = clock.monotonicMs()
  // The check goes on if its client disconnects, because it is over soon.
  const { signal: client } = new AbortController()
  const signal = new AttemptSignal(clock, client, waitMs, startedMs + waitMs, null, asked.organizationId)
  const durationMs = () => Math.round(clock.monotonicMs() - startedMs)
  try {
    const providerStatus = await signal.guard(checkKey(signal))
    return { outcome: 'succeeded', providerStatus, durationMs: durationMs() }
  } catch (thrown) {
    const error = providerError(thrown)
    if (error.isOurDefect) throw error
    const failed = { outcome: outcomeOf(error), providerStatus: error.status ?? null, durationMs: durationMs() }
    log.warn({ ...asked, ...failed, reason: error.reason }, 'provider check failed')
    return failed
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
