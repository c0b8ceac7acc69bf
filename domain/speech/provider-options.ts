import type { Row } from '../catalog/catalog.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { Fault } from '../records/fault.ts'

/** Settings that only one provider supports, by provider id. */
export type ProviderOptions = Readonly<Record<string, ProviderSettings>>
type ProviderSettings = Readonly<Record<string, string | number | boolean>>

/**
 * Throws `unknown_option` if the first candidate does not support one of the settings for its provider. Settings for
 * other providers are ignored, and never exclude a candidate.
 */
export function checkOptions(options: ProviderOptions | undefined, first: Row | undefined): void {
  const option = first && unknownOption(options, first)
  if (option !== undefined) throw new Fault({ kind: 'unknown_option', provider: first?.provider.id ?? '', option })
}

/**
 * Returns the settings for a candidate's provider. If the candidate after a failover does not support one of these
 * settings, throws ProviderError `unsupported`.
 */
export function optionsFor(options: ProviderOptions | undefined, row: Row): ProviderSettings | undefined {
  if (unknownOption(options, row) !== undefined) throw new ProviderError('unsupported', { sent: false })
  return options?.[row.provider.id]
}

function unknownOption(options: ProviderOptions | undefined, { model, provider }: Row): string | undefined {
  return Object.keys(options?.[provider.id] ?? {}).find((name) => !model.providerOptions.includes(name))
}
