import { noCredential, ownKeyIdOf } from '../access/provider-keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ExclusionReason, FilterKind } from '../catalog/exclusion.ts'
import { type Capability, otherStage, type Stage } from '../catalog/model.ts'
import { Fault } from '../fault.ts'
import type { Ask } from './ask.ts'
import type { Exclusion } from './candidates.ts'
import type { Choice } from './choice.ts'
import { modelName } from './model-name.ts'
import { nearNames } from './near-names.ts'

/** Messages name no more models and no more variables than this. */
const namedMax = 5
/** The wait that is answered where it is unknown when a provider will be back. */
const retryAfterDefaultS = 30

/** The fault for a choice without candidates: it says what was asked and which filter removed the last candidate. */
export function refusal({ ask, excluded }: Choice, catalog: Catalog): Fault {
  const last = decisive(ask, excluded, catalog).reduce<Exclusion | null>(
    (a, b) => (a === null || b.step > a.step ? b : a),
    null,
  )
  if (last === null) return noProvider(ask.stage)
  const emptied = { ask, excluded, catalog, last }
  return lacksCredential(emptied) ? credentialMissing(emptied) : faults[kindOf(last.reason)](emptied)
}

/**
 * A pinned model without a credential cannot be called, however the rest of the request is changed. Without a pin the credential is the
 * reason only where every model that the filters left lacks it.
 */
function lacksCredential({ ask, excluded, catalog, last }: Emptied): boolean {
  const { ownKeys } = ask.access
  const lacks = ({ row: { provider } }: Exclusion) =>
    catalog.unavailable(provider) === noCredential && ownKeyIdOf(provider, ownKeys) === null
  if (ask.routing.mode === 'explicit') return lacks(last) && !narrowing.has(kindOf(last.reason))
  const left = excluded.filter(({ reason }) => blocking.has(kindOf(reason)))
  return left.includes(last) && left.every(lacks)
}

/** Nothing of the stage is configured, or nothing that streams. */
export function noProvider(stage: Stage, kind: 'no_provider' | 'no_streaming_provider' = 'no_provider'): Fault {
  return new Fault({ kind, stage }, { retryAfterS: retryAfterDefaultS })
}

/**
 * Vendors are listed also without a credential. A missing credential is the reason only where the routing leaves nothing else: a caller who
 * asks for something that no model here can do is answered that, and not about a credential that he may not know.
 */
function decisive({ access }: Ask, excluded: readonly Exclusion[], catalog: Catalog): readonly Exclusion[] {
  const setUp = excluded.filter(
    ({ row: { provider } }) =>
      catalog.unavailable(provider) !== noCredential || ownKeyIdOf(provider, access.ownKeys) !== null,
  )
  return setUp.some(({ reason }) => !narrowing.has(kindOf(reason))) ? setUp : excluded
}

type Emptied = { ask: Ask; excluded: readonly Exclusion[]; catalog: Catalog; last: Exclusion }

const faults: Record<FilterKind, (emptied: Emptied) => Fault> = {
  not_pinned: unknownPin,
  not_allowed: ({ ask }) => new Fault({ kind: 'none_allowed', stage: ask.stage }),
  denied: ({ ask }) => new Fault({ kind: 'all_denied', stage: ask.stage }),
  test_key: ({ ask }) => new Fault({ kind: 'test_key_reaches_none', stage: ask.stage }),
  key_policy: ({ ask }) => new Fault({ kind: 'key_policy_leaves_none', stage: ask.stage }),
  capability: missingCapability,
  provider_options: ({ ask }) => new Fault({ kind: 'option_unsupported', ...leftOf(ask) }),
  language: ({ ask }) => new Fault({ kind: 'language_unsupported', tag: ask.language?.tag ?? '', ...leftOf(ask) }),
  voice: ({ ask }) => new Fault({ kind: 'voice_unknown', ...leftOf(ask) }),
  encoding: ({ ask }) => new Fault({ kind: 'encoding_unsupported', audio: ask.audio, ...leftOf(ask) }),
  unavailable: noneCallable,
  credential_cooling: noneCallable,
  circuit_open: noneCallable,
}

/** The filters of the caller's routing and key. */
const narrowing: ReadonlySet<FilterKind> = new Set(['not_pinned', 'not_allowed', 'denied', 'test_key', 'key_policy'])

/** The filters of what can be called now. */
const blocking: ReadonlySet<FilterKind> = new Set(['unavailable', 'credential_cooling', 'circuit_open'])

function kindOf(reason: ExclusionReason): FilterKind {
  return isCapability(reason) ? 'capability' : reason
}

function isCapability(reason: ExclusionReason): reason is `capability:${Capability}` {
  return reason.startsWith('capability:')
}

function leftOf({ stage, routing }: Ask): { stage: Stage; pinned: boolean } {
  return { stage, pinned: routing.mode === 'explicit' }
}

function unknownPin({ ask: { routing, stage }, catalog }: Emptied): Fault {
  const { provider, model } = routing.mode === 'explicit' ? routing : { provider: '', model: '' }
  const other = otherStage(stage, (each) => catalog.find(each, provider, model) !== undefined)
  const pins = catalog.stage(stage).map(({ pin }) => pin)
  const near = other === null ? nearNames(`${provider}/${model}`, pins) : []
  return new Fault({ kind: 'unknown_pin', stage, otherStage: other, near })
}

function credentialMissing({ ask, excluded, catalog, last }: Emptied): Fault {
  const isPinned = ask.routing.mode === 'explicit'
  const lacking = isPinned ? [last] : excluded.filter(({ reason }) => blocking.has(kindOf(reason)))
  const variables = lacking.flatMap(({ row }) => row.provider.credentialVariable ?? [])
  return new Fault({
    kind: 'credential_missing',
    stage: ask.stage,
    model: isPinned ? modelName(last.row.provider.id, last.row.model.id) : null,
    variables: [...new Set(variables)].slice(0, namedMax),
    served: servedNow(ask, catalog),
  })
}

/** The names of a few models of the stage that the caller can call now. */
function servedNow({ stage, access: { ownKeys } }: Ask, catalog: Catalog): string[] {
  const served: string[] = []
  for (const { provider, model } of catalog.stage(stage)) {
    if (served.length === namedMax) break
    if (catalog.unavailable(provider) === null || ownKeyIdOf(provider, ownKeys) !== null)
      served.push(modelName(provider.id, model.id))
  }
  return served
}

function missingCapability({ ask, last: { reason } }: Emptied): Fault {
  const capability = reason.slice('capability:'.length) as Capability
  return new Fault({ kind: 'capability_missing', capability, ...leftOf(ask) })
}

function noneCallable({ ask, excluded }: Emptied): Fault {
  const waitsMs = excluded.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  const knowsWhen = waitsMs.length > 0
  const retryAfterS = knowsWhen ? Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000)) : retryAfterDefaultS
  return new Fault({ kind: 'none_callable', knowsWhen, ...leftOf(ask) }, { retryAfterS })
}
