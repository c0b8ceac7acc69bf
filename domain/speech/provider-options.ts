import type { Row } from '../catalog/catalog.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { Fault } from '../records/fault.ts'

/** Settings that only one provider knows, by provider. */
export type ProviderOptions = Readonly<Record<string, ProviderSettings>>
type ProviderSettings = Readonly<Record<string, string | number | boolean>>

/**
 * Throws unknown_option for a setting that the first candidate does not take. The settings of other providers are not
 * looked at: they never narrow the choice.
 */
export function checkOptions(options: ProviderOptions | undefined, first: Row | undefined): void {
  const option = first && unknownOption(options, first)
  if (option !== undefined) throw new Fault({ kind: 'unknown_option', provider: first?.provider.id ?? '', option })
}

/** The settings for a candidate. Throws ProviderError `unsupported` after a failover to one that does not take them. */
export function optionsFor(options: ProviderOptions | undefined, row: Row): ProviderSettings | undefined {
  if (unknownOption(options, row) !== undefined) throw new ProviderError('unsupported', { sent: false })
  return options?.[row.provider.id]
}

function unknownOption(options: ProviderOptions | undefined, { model, provider }: Row): string | undefined {
  return Object.keys(options?.[provider.id] ?? {}).find((name) => !model.providerOptions.includes(name))
}
