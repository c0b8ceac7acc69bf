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
 * Throws options_without_provider for a provider without a model of this stage, and unknown_option for a setting that
 * none of its models takes. If the request pins a model of the provider, only that model counts.
 */
export function checkSettings(ask: Ask, catalog: Catalog): void {
  const { stage } = ask
  for (const [provider, names] of Object.entries(ask.settings ?? {})) {
    const rows = settable(ask, provider, catalog)
    if (rows.length === 0) throw new Fault({ kind: 'options_without_provider', stage, provider })
    const option = names.find((name) => !rows.some((row) => row.model.providerOptions.includes(name)))
    if (option !== undefined) throw new Fault({ kind: 'unknown_option', provider, option })
  }
}

function settable({ stage, routing }: Ask, provider: string, catalog: Catalog): readonly Row[] {
  const rows = catalog.stage(stage).filter((row) => row.provider.id === provider)
  const pinned = rows.filter((row) => routing.mode === 'explicit' && row.pin === `${routing.provider}/${routing.model}`)
  return pinned.length > 0 ? pinned : rows
}
