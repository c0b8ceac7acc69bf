import { ProviderError } from '../../domain/ports/provider-error.ts'

type KeytermLimits = { termsMax: number; charactersMax: number }

/** The vendor's keyterm limits for recordings and for live audio. */
export const batchKeyterms: KeytermLimits = { termsMax: 1000, charactersMax: 49 }
export const realtimeKeyterms: KeytermLimits = { termsMax: 50, charactersMax: 20 }

/**
 * Returns the keyterms. Throws ProviderError `unsupported` if they exceed the limits, because the vendor would refuse
 * the request, and another provider may serve it.
 */
export function keyterms(
  keywords: readonly string[] = [],
  { termsMax, charactersMax }: KeytermLimits,
): readonly string[] {
  const isTooMuch = keywords.length > termsMax || keywords.some((keyword) => keyword.length > charactersMax)
  if (isTooMuch) throw new ProviderError('unsupported', { sent: false, cause: 'keyterms beyond the limit' })
  return keywords
}
