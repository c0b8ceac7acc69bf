import { noCredential, ownKeyIdOf } from '../access/provider-keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ExclusionReason, FilterKind } from '../catalog/exclusion.ts'
import { type Capability, type Stage, stages } from '../catalog/model.ts'
import { Fault } from '../fault.ts'
import type { Ask } from './ask.ts'
import type { Exclusion } from './candidates.ts'
import type { Choice } from './chooser.ts'

/** Said where nothing knows when a provider will be back. */
const retryAfterDefaultS = 30

/** The fault for a choice without candidates: it names what was asked and the filter that took the last one. */
export function refusal({ ask, excluded }: Choice, catalog: Catalog): Fault {
  const last = decisive(ask, excluded, catalog).reduce<Exclusion | null>(
    (a, b) => (a === null || b.step > a.step ? b : a),
    null,
  )
  if (last === null) return nothingConfigured(ask.stage)
  const filter = kindOf(last.reason)
  const { code, detail } = faults[filter]({ ask, excluded, catalog, last })
  return new Fault(code, { ...detail, filter })
}

/**
 * Vendors are listed whether or not anybody has set them up. One that nobody has is the reason only where the routing leaves nothing else: a caller
 * who asks what no model here can do is told that, and not of a credential that he may never have heard of.
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
  not_pinned: unknownModel,
  not_allowed: emptiedByRouting,
  denied: emptiedByRouting,
  test_key: keyForbids,
  key_policy: keyForbids,
  capability: unsupported,
  provider_options: unsupported,
  language: unsupported,
  voice: unsupported,
  encoding: unsupported,
  unavailable: noneRoutable,
  credential_cooling: noneRoutable,
  circuit_open: noneRoutable,
}

/** What the caller's routing and his key leave out. */
const narrowing: ReadonlySet<FilterKind> = new Set(['not_pinned', 'not_allowed', 'denied', 'test_key', 'key_policy'])

function kindOf(reason: ExclusionReason): FilterKind {
  return isCapability(reason) ? 'capability' : reason
}

function isCapability(reason: ExclusionReason): reason is `capability:${Capability}` {
  return reason.startsWith('capability:')
}

function nothingConfigured(stage: Stage): Fault {
  return new Fault('provider_unavailable', {
    message: `No ${stage} provider is configured.`,
    hint: 'Give a provider its credential, or add one to the configuration; GET /v1/models lists what can be routed.',
    retryAfterS: retryAfterDefaultS,
  })
}

function unknownModel({ ask: { routing, stage }, catalog }: Emptied): Fault {
  const { provider, model } = routing.mode === 'explicit' ? routing : { provider: '', model: '' }
  const other = stages.find((each) => each !== stage && catalog.find(each, provider, model))
  return new Fault('invalid_parameter', {
    param: '/routing/model',
    message: other ? `The pinned model is of kind ${other}, not ${stage}.` : `The catalog has no such ${stage} model.`,
    hint: 'GET /v1/models lists every model with its pin.',
  })
}

function emptiedByRouting({ ask: { stage }, last }: Emptied): Fault {
  const named = last.reason === 'denied' ? 'denied' : 'allowed'
  return new Fault('capability_unsupported', {
    message: `The ${named} providers leave no ${stage} model.`,
    hint: 'GET /v1/models lists the providers that can be named.',
  })
}

function keyForbids({ ask: { stage }, last }: Emptied): Fault {
  const test = last.reason === 'test_key'
  return new Fault('access_denied', {
    message: test
      ? `This is a test key: it reaches only simulators, loopback and embedded engines, and none of them is left for ${stage}.`
      : `The allowed providers or the chain of this key leave no ${stage} model.`,
    hint: test
      ? 'Use a live key, or route to a provider that test keys reach.'
      : 'Change the route, or the configuration of the key.',
  })
}

function noneRoutable({ ask: { stage, routing }, excluded }: Emptied): Fault {
  const waitsMs = excluded.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  const retryAfterS = waitsMs.length ? Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000)) : retryAfterDefaultS
  return new Fault('provider_unavailable', {
    message:
      routing.mode === 'explicit' ? 'The pinned model cannot be called now.' : `No ${stage} model can be called now.`,
    hint: waitsMs.length
      ? `Retry after ${retryAfterS} s, or widen the routing.`
      : 'The provider has no credential or is not running: configure it, or widen the routing.',
    retryAfterS,
  })
}

function unsupported({ ask, last }: Emptied): Fault {
  const left = ask.routing.mode === 'explicit' ? 'the pinned model' : `any ${ask.stage} model that the routing leaves`
  return new Fault('capability_unsupported', {
    message: `${askedFor(last, ask)} is not supported by ${left}.`,
    hint: `The ${kindOf(last.reason)} filter left no candidate. GET /v1/models shows what each model can do.`,
  })
}

function askedFor({ reason }: Exclusion, ask: Ask): string {
  if (reason === 'language') return `The language ${ask.language?.tag ?? ''}`
  if (reason === 'voice') return 'The voice asked for, or set on the key,'
  if (reason === 'provider_options') return 'One of the provider_options'
  if (reason === 'encoding' && ask.audio)
    return `Audio as ${ask.audio.encoding} at ${ask.audio.sampleRateHz} Hz with ${ask.audio.channels} channel(s)`
  return reason.replace('capability:', '')
}
