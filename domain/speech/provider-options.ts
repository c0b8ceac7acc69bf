import type { Catalog, Row } from '../catalog/catalog.ts'
import { Fault } from '../fault.ts'
import type { Ask } from '../routing/ask.ts'

/** Settings that only one provider knows, by provider. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>

/** Names only: the values decide nothing about the route. */
export function settingNames(options: ProviderOptions | undefined): Ask['settings'] {
  if (!options) return null
  return Object.fromEntries(Object.entries(options).map(([provider, settings]) => [provider, Object.keys(settings)]))
}

/**
 * Throws invalid_parameter that names a provider which has no model of this stage, or a setting that none of its models takes. Of a pinned
 * provider only the pinned model counts.
 */
export function checkSettings(ask: Ask, catalog: Catalog): void {
  for (const [provider, names] of Object.entries(ask.settings ?? {})) {
    const rows = settable(ask, provider, catalog)
    const param = `/options/provider_options/${pointer(provider)}`
    if (rows.length === 0) throw refused(param, `provider_options names a provider that has no ${ask.stage} model.`)
    const unknown = names.find((name) => !rows.some((row) => row.model.providerOptions.includes(name)))
    if (unknown !== undefined)
      throw refused(
        `${param}/${pointer(unknown)}`,
        'provider_options holds a setting that this provider does not take.',
      )
  }
}

function settable({ stage, routing }: Ask, provider: string, catalog: Catalog): readonly Row[] {
  const rows = catalog.stage(stage).filter((row) => row.provider.id === provider)
  const pinned = rows.filter((row) => routing.mode === 'explicit' && row.pin === `${routing.provider}/${routing.model}`)
  return pinned.length > 0 ? pinned : rows
}

function refused(param: string, message: string): Fault {
  return new Fault('invalid_parameter', {
    param,
    message,
    hint: 'Leave it out; GET /v1/models shows what can be routed.',
  })
}

/** RFC 6901: `~` and `/` are escaped in a JSON pointer. */
function pointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
