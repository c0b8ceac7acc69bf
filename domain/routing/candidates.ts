import { noCredential, ownKeyIdOf } from '../access/provider-keys.ts'
import type { Catalog, Row } from '../catalog/catalog.ts'
import type { ExclusionReason } from '../catalog/exclusion.ts'
import type { Health } from '../health/health.ts'
import type { AudioSupport } from '../ports/model.ts'
import type { Ask, RequiredAudio } from './ask.ts'

export type Exclusion = {
  row: Row
  reason: ExclusionReason
  /** The filter's index in `filters`. The filter with the highest index has excluded the last candidate. */
  step: number
  /** The provider's reason for `unavailable`, for example `no_credential`. */
  detail?: string
  /** The time until the row can be used again without a change in the request. Absent if the time is unknown. */
  retryAfterMs?: number
}

export type World = { catalog: Catalog; health: Health; testProviders: ReadonlySet<string> }
export type Filtered = { rows: Row[]; excluded: Exclusion[] }

type Verdict = ExclusionReason | Pick<Exclusion, 'reason' | 'detail' | 'retryAfterMs'> | null
type Judge = (row: Row) => Verdict
/**
 * Prepares the filter for an ask once, and returns the function that checks every row. Null if this filter excludes no
 * row.
 */
type Filter = (ask: Ask, world: World) => Judge | null

/**
 * Sorts the catalog's rows for speech to text, LLM or text to speech (`ask.stage`) into candidates and exclusions. An
 * exclusion has the first reason that applies.
 */
export function filterCandidates(ask: Ask, world: World): Filtered {
  const judges = filters.flatMap((filter, step) => {
    const judge = filter(ask, world)
    return judge ? [{ judge, step }] : []
  })
  const rows: Row[] = []
  const excluded: Exclusion[] = []
  for (const row of world.catalog.stage(ask.stage)) {
    const exclusion = excludedBy(row, judges)
    if (exclusion) excluded.push(exclusion)
    else rows.push(row)
  }
  const unlisted = unlistedOf(ask, world)
  const exclusion = unlisted && excludedBy(unlisted, judges)
  if (exclusion) excluded.push(exclusion)
  else if (unlisted) rows.push(unlisted)
  return { rows, excluded }
}

/** Returns the row for a pinned model outside the catalog. */
function unlistedOf({ stage, routing }: Ask, { catalog }: World): Row | undefined {
  return routing.mode === 'explicit' ? catalog.unlisted(stage, routing.provider, routing.model) : undefined
}

/**
 * The filters, in this order: the request's routing, the key's limits, the request's needs, and the providers' state.
 */
const filters: readonly Filter[] = [
  pin,
  allowed,
  denied,
  testKey,
  keyPolicy,
  capabilities,
  language,
  voice,
  encoding,
  available,
  healthy,
]

function excludedBy(row: Row, judges: readonly { judge: Judge; step: number }[]): Exclusion | null {
  for (const { judge, step } of judges) {
    const verdict = judge(row)
    if (verdict === null) continue
    return typeof verdict === 'string' ? { row, reason: verdict, step } : { row, step, ...verdict }
  }
  return null
}

function pin({ routing }: Ask): Judge | null {
  if (routing.mode === 'auto') return null
  const pinned = `${routing.provider}/${routing.model}`
  return ({ pin }) => (pin === pinned ? null : 'not_pinned')
}

function allowed({ routing }: Ask): Judge | null {
  const ids = routing.mode === 'auto' ? routing.allowProviders : undefined
  if (ids === undefined) return null
  // The form `<provider>:<model>` allows a single model.
  const pins = new Set(ids.filter((id) => id.includes(':')).map((id) => id.replace(':', '/')))
  return ({ pin, provider }) => (ids.includes(provider.id) || pins.has(pin) ? null : 'not_allowed')
}

function denied({ routing }: Ask): Judge | null {
  const ids = routing.mode === 'auto' ? routing.denyProviders : undefined
  return ids ? ({ provider }) => (ids.includes(provider.id) ? 'denied' : null) : null
}

function testKey({ access }: Ask, { testProviders }: World): Judge | null {
  return access.test ? ({ provider }) => (testProviders.has(provider.id) ? null : 'test_key') : null
}

/**
 * Excludes models that the key does not allow. The key's chain (its list of models) applies only if the request pins no
 * model.
 */
function keyPolicy({ access: { allowProviders, chain }, routing }: Ask): Judge | null {
  const chained = routing.mode === 'explicit' ? null : chain
  if (allowProviders === null && chained === null) return null
  return ({ pin, provider }) => {
    const reaches = allowProviders === null || allowProviders.includes(provider.id)
    return reaches && (chained === null || chained.includes(pin)) ? null : 'key_policy'
  }
}

function capabilities({ needs }: Ask): Judge | null {
  if (needs.length === 0) return null
  return ({ model }) => {
    for (const need of needs) if (!model.capabilities[need]) return `capability:${need}`
    return null
  }
}

function language({ language, detectsLanguage }: Ask, { catalog }: World): Judge | null {
  if (language === null && !detectsLanguage) return null
  const speaks = language === null ? null : catalog.speakers(language.base)
  return ({ order, languages }) => {
    if (languages === null) return null
    if (detectsLanguage && languages.size === 1) return 'language'
    return speaks === null || speaks[order] === 1 ? null : 'language'
  }
}

/**
 * Excludes models without the voice. A voice id belongs to one provider. If a pinned model lists no voices, it is kept,
 * and its provider must check the id.
 */
function voice({ voice, routing }: Ask): Judge | null {
  if (voice === null) return null
  const isPinned = routing.mode === 'explicit'
  return ({ voices }) => (voices.has(voice) || (voices.size === 0 && isPinned) ? null : 'voice')
}

function encoding({ audio }: Ask): Judge | null {
  if (audio === null) return null
  return ({ model }) =>
    model.audioFormats.length === 0 || model.audioFormats.some((support) => supports(support, audio))
      ? null
      : 'encoding'
}

function supports(support: AudioSupport, audio: RequiredAudio): boolean {
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

/**
 * Excludes providers that cannot be called now. An organization's provider key replaces the operator's missing
 * credential, but no other reason for being unavailable.
 */
function available({ access }: Ask, { catalog }: World): Judge | null {
  if (catalog.isAllAvailable) return null
  return ({ provider }) => {
    const detail = catalog.unavailable(provider)
    if (detail === null || (detail === noCredential && ownKeyIdOf(provider, access.ownKeys) !== null)) return null
    return { reason: 'unavailable', detail }
  }
}

function healthy({ access }: Ask, { health }: World): Judge | null {
  if (health.isClear) return null
  return (row) => health.blocked(row, ownKeyIdOf(row.provider, access.ownKeys))
}
