import { noCredential, ownKeyIdOf } from '../access/provider-keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ExclusionReason, FilterKind } from '../catalog/exclusion.ts'
import { type Capability, otherStage, type Stage } from '../ports/model.ts'
import type { Installable } from '../ports/provider.ts'
import { Fault, type NarrowingFilter } from '../records/fault.ts'
import type { Access, Ask } from './ask.ts'
import type { Exclusion } from './candidates.ts'
import { modelName } from './model-name.ts'
import { nearNames } from './near-names.ts'

/** The maximum number of models, and of variables, in an error message. */
const namedMax = 5
/** Clients are asked to wait this long if it is unknown when a provider can be called again. */
const retryAfterDefaultS = 30

/**
 * Returns the fault for a choice without candidates. The fault contains the request and the filter that excluded the
 * last candidate.
 */
export function refusal(ask: Ask, excluded: readonly Exclusion[], catalog: Catalog): Fault {
  const last = decisive(ask, excluded, catalog).reduce<Exclusion | null>(
    (a, b) => (a === null || isFurther(ask, b, a) ? b : a),
    null,
  )
  if (last === null) return noProvider(ask.stage)
  const emptied = { ask, excluded, catalog, last }
  return lacksCredential(emptied) ? credentialMissing(emptied) : faults[kindOf(last.reason)](emptied)
}

/**
 * Returns true if a missing credential is the reason for the refusal. If a pinned model has no credential, no change to
 * the request helps. Without a pin, a missing credential is the reason only if all models that passed the filters lack
 * a credential.
 */
function lacksCredential({ ask, excluded, catalog, last }: Emptied): boolean {
  const { ownKeys } = ask.access
  const lacks = ({ row: { provider } }: Exclusion) =>
    catalog.unavailable(provider) === noCredential && ownKeyIdOf(provider, ownKeys) === null
  if (ask.routing.mode === 'explicit') return lacks(last) && !narrowing.has(kindOf(last.reason))
  const left = excluded.filter(({ reason }) => blocking.has(kindOf(reason)))
  return left.includes(last) && left.every(lacks)
}

/**
 * Returns true if `a` has passed more filters than `b`. In `needs`, `streaming` or `batch` is the first need. So a row
 * that lacks only a later need has passed more filters.
 */
function isFurther({ needs }: Ask, a: Exclusion, b: Exclusion): boolean {
  const place = ({ reason }: Exclusion) => (isCapability(reason) ? needs.indexOf(capabilityOf(reason)) : -1)
  return a.step === b.step ? place(a) > place(b) : a.step > b.step
}

/**
 * Returns the fault if no provider, or no streaming provider, is configured for speech to text, LLM or text to speech.
 */
export function noProvider(stage: Stage, kind: 'no_provider' | 'no_streaming_provider' = 'no_provider'): Fault {
  return new Fault({ kind, stage }, { retryAfterS: retryAfterDefaultS })
}

/**
 * Returns the exclusions that decide the fault. Exclusions of providers without a credential count only if the
 * request's routing and API key exclude all other providers. Otherwise the fault must say why the other providers
 * cannot serve the request, because a credential would not help the client.
 */
function decisive({ access }: Ask, excluded: readonly Exclusion[], catalog: Catalog): readonly Exclusion[] {
  const setUp = excluded.filter((exclusion) => isSetUp(exclusion, access, catalog))
  return setUp.some(({ reason }) => !narrowing.has(kindOf(reason))) ? setUp : excluded
}

function isSetUp({ row: { provider } }: Exclusion, access: Access, catalog: Catalog): boolean {
  return catalog.unavailable(provider) !== noCredential || ownKeyIdOf(provider, access.ownKeys) !== null
}

type Emptied = { ask: Ask; excluded: readonly Exclusion[]; catalog: Catalog; last: Exclusion }

const faults: Record<FilterKind, (emptied: Emptied) => Fault> = {
  not_pinned: unknownPin,
  not_allowed: ({ ask }) => new Fault({ kind: 'none_allowed', stage: ask.stage }),
  denied: ({ ask }) => new Fault({ kind: 'all_denied', stage: ask.stage }),
  test_key: ({ ask }) => new Fault({ kind: 'test_key_reaches_none', stage: ask.stage }),
  key_policy: ({ ask }) => new Fault({ kind: 'key_policy_leaves_none', stage: ask.stage }),
  capability: missingCapability,
  language: languageUnsupported,
  voice: unknownVoice,
  encoding: (emptied) => new Fault({ kind: 'encoding_unsupported', audio: emptied.ask.audio, ...leftOf(emptied) }),
  unavailable: noneCallable,
  credential_cooling: noneCallable,
  circuit_open: noneCallable,
}

const narrowings: readonly NarrowingFilter[] = ['not_allowed', 'denied', 'test_key', 'key_policy']
/** The filters from the request's routing and its API key. */
const narrowing: ReadonlySet<FilterKind> = new Set(['not_pinned', ...narrowings])

/** The filters for providers that cannot be called now. */
const blocking: ReadonlySet<FilterKind> = new Set(['unavailable', 'credential_cooling', 'circuit_open'])

function kindOf(reason: ExclusionReason): FilterKind {
  return isCapability(reason) ? 'capability' : reason
}

function isCapability(reason: ExclusionReason): reason is `capability:${Capability}` {
  return reason.startsWith('capability:')
}

function capabilityOf(reason: ExclusionReason): Capability {
  return reason.slice('capability:'.length) as Capability
}

function leftOf({ ask: { stage, routing }, excluded }: Pick<Emptied, 'ask' | 'excluded'>) {
  if (routing.mode === 'explicit') return { stage, pinned: true }
  const by = narrowings.find((filter) => excluded.some(({ reason }) => reason === filter))
  return { stage, pinned: false, ...(by && { by }) }
}

const commandOf = (addable: Installable | undefined) => (addable ? { command: addable.command } : {})

function languageUnsupported(emptied: Emptied): Fault {
  const { language, detectsLanguage, stage } = emptied.ask
  const addable = emptied.catalog
    .installable(stage)
    .find(({ model }) => detectsLanguage || model.languages.includes(language?.base ?? ''))
  const tag = detectsLanguage ? 'auto' : (language?.tag ?? '')
  return new Fault({ kind: 'language_unsupported', tag, ...commandOf(addable), ...leftOf(emptied) })
}

/** The maximum number of voices in a message, and the maximum length of a voice id in it. */
const voicesMax = 20
const voiceCharsMax = 40

function unknownVoice(emptied: Emptied): Fault {
  const { ask, excluded, catalog } = emptied
  const others = excluded.filter((each) => each.reason === 'voice' && isSetUp(each, ask.access, catalog))
  const ids = [...new Set(others.flatMap(({ row }) => [...row.voices]))]
  const voices = ids.filter((id) => id.length <= voiceCharsMax).slice(0, voicesMax)
  const more = ids.length - voices.length
  return new Fault({ kind: 'voice_unknown', voices, more, ...leftOf(emptied) })
}

function unknownPin({ ask: { routing, stage }, catalog }: Emptied): Fault {
  const { provider, model } = routing.mode === 'explicit' ? routing : { provider: '', model: '' }
  const other = otherStage(stage, (each) => catalog.find(each, provider, model) !== undefined)
  const pins = catalog.stage(stage).map(({ pin }) => pin)
  const near = other === null ? nearNames(`${provider}/${model}`, pins) : []
  const addable = catalog.installable(stage).find((each) => each.model.provider === provider && each.model.id === model)
  return new Fault({ kind: 'unknown_pin', stage, otherStage: other, near, ...commandOf(addable) })
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

/**
 * Lists a few models of the ask's stage that can be called: their provider is available, or the organization has a
 * provider key for it.
 */
function servedNow({ stage, access: { ownKeys } }: Ask, catalog: Catalog): string[] {
  const served: string[] = []
  for (const { provider, model } of catalog.stage(stage)) {
    if (served.length === namedMax) break
    if (catalog.unavailable(provider) === null || ownKeyIdOf(provider, ownKeys) !== null)
      served.push(modelName(provider.id, model.id))
  }
  return served
}

function missingCapability(emptied: Emptied): Fault {
  const capability = capabilityOf(emptied.last.reason)
  return new Fault({ kind: 'capability_missing', capability, ...leftOf(emptied) })
}

function noneCallable(emptied: Emptied): Fault {
  const { excluded } = emptied
  const waitsMs = excluded.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  const knowsWhen = waitsMs.length > 0
  const retryAfterS = knowsWhen ? Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000)) : retryAfterDefaultS
  return new Fault({ kind: 'none_callable', knowsWhen, ...leftOf(emptied) }, { retryAfterS })
}
