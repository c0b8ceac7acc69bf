import type { Ask, AskedAudio, Capability } from './ask.ts'
import type { Catalog, Row } from './catalog.ts'
import type { Health } from './health.ts'
import type { AudioSupport } from './model.ts'

/** Why a model is no candidate. The closed list that preview shows. */
export type ExclusionReason =
  | 'not_pinned'
  | 'not_allowed'
  | 'denied'
  | 'test_key'
  | 'key_policy'
  | `capability:${Capability}`
  | 'provider_options'
  | 'language'
  | 'voice'
  | 'encoding'
  | 'unavailable'
  | 'credential_cooling'
  | 'circuit_open'

/** An exclusion's reason without the name of the capability. */
export type FilterKind = Exclude<ExclusionReason, `capability:${string}`> | 'capability'

export type Exclusion = {
  row: Row
  reason: ExclusionReason
  /** Place of the filter in the order below: the highest one emptied the list. */
  step: number
  /** The provider's own word for `unavailable`, for example no_credential. */
  detail?: string
  /** When a reason that time mends is over. */
  retryAfterMs?: number
}

export type World = { catalog: Catalog; health: Health; testProviders: ReadonlySet<string> }
export type Filtered = { rows: Row[]; excluded: Exclusion[] }

type Verdict = ExclusionReason | Pick<Exclusion, 'reason' | 'detail' | 'retryAfterMs'> | null
type Filter = (row: Row, ask: Ask, world: World) => Verdict

/** Every row of the stage is either left or excluded, with the first reason that applies. */
export function filterCandidates(ask: Ask, world: World): Filtered {
  const rows: Row[] = []
  const excluded: Exclusion[] = []
  for (const row of world.catalog.stage(ask.stage)) {
    const exclusion = excludedBy(row, ask, world)
    if (exclusion) excluded.push(exclusion)
    else rows.push(row)
  }
  return { rows, excluded }
}

/** The caller's routing, then what the key may reach, then what is asked, then what can be called now. */
const filters: readonly Filter[] = [
  pin,
  allowed,
  denied,
  testKey,
  keyPolicy,
  capabilities,
  providerOptions,
  language,
  voice,
  encoding,
  available,
  healthy,
]

function excludedBy(row: Row, ask: Ask, world: World): Exclusion | null {
  for (const [step, filter] of filters.entries()) {
    const verdict = filter(row, ask, world)
    if (verdict === null) continue
    return typeof verdict === 'string' ? { row, reason: verdict, step } : { row, step, ...verdict }
  }
  return null
}

function pin({ pin }: Row, { routing }: Ask): Verdict {
  return routing.mode === 'auto' || pin === `${routing.provider}/${routing.model}` ? null : 'not_pinned'
}

function allowed({ provider }: Row, { routing }: Ask): Verdict {
  const ids = routing.mode === 'auto' ? routing.allowProviders : undefined
  return ids === undefined || ids.includes(provider.id) ? null : 'not_allowed'
}

function denied({ provider }: Row, { routing }: Ask): Verdict {
  return routing.mode === 'auto' && routing.denyProviders?.includes(provider.id) ? 'denied' : null
}

function testKey({ provider }: Row, { access }: Ask, { testProviders }: World): Verdict {
  return access.test && !testProviders.has(provider.id) ? 'test_key' : null
}

/** A chain is what the key chooses where the request leaves the choice open; a pin is a choice. */
function keyPolicy({ pin, provider }: Row, { access, routing }: Ask): Verdict {
  const reaches = access.allowProviders === null || access.allowProviders.includes(provider.id)
  const chained = access.chain === null || routing.mode === 'explicit' || access.chain.includes(pin)
  return reaches && chained ? null : 'key_policy'
}

function capabilities({ model }: Row, { needs }: Ask): Verdict {
  const missing = needs.find((need) => !model.capabilities[need])
  return missing === undefined ? null : `capability:${missing}`
}

function providerOptions({ model, provider }: Row, { settings }: Ask): Verdict {
  const asked = settings?.[provider.id] ?? []
  return asked.every((setting) => model.providerOptions.includes(setting)) ? null : 'provider_options'
}

function language({ languages }: Row, ask: Ask): Verdict {
  return ask.language === null || languages === null || languages.has(ask.language.base) ? null : 'language'
}

/** A voice id belongs to one provider. A pinned model that lists no voices gets it verbatim: only its provider can tell. */
function voice({ voices }: Row, ask: Ask): Verdict {
  if (ask.voice === null || voices.has(ask.voice)) return null
  return voices.size === 0 && ask.routing.mode === 'explicit' ? null : 'voice'
}

function encoding({ model }: Row, { audio }: Ask): Verdict {
  if (audio === null || model.audioFormats.length === 0) return null
  return model.audioFormats.some((support) => supports(support, audio)) ? null : 'encoding'
}

function supports(support: AudioSupport, audio: AskedAudio): boolean {
  return (
    support.encoding === audio.encoding &&
    inRates(support, audio.sampleRateHz) &&
    support.channels.includes(audio.channels)
  )
}

function inRates({ sampleRatesHz, sampleRateRangeHz }: AudioSupport, rateHz: number): boolean {
  if (sampleRatesHz !== undefined) return sampleRatesHz.includes(rateHz)
  return sampleRateRangeHz === undefined || (rateHz >= sampleRateRangeHz.min && rateHz <= sampleRateRangeHz.max)
}

function available({ provider }: Row, _ask: Ask, { catalog }: World): Verdict {
  const detail = catalog.unavailable(provider)
  return detail === null ? null : { reason: 'unavailable', detail }
}

function healthy(row: Row, _ask: Ask, { health }: World): Verdict {
  return health.blocked(row)
}
