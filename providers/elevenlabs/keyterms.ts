import { ProviderError } from '../../domain/ports/provider-error.ts'

type KeytermLimits = { termsMax: number; charactersMax: number }

/** What each transcriber takes. */
export const batchKeyterms: KeytermLimits = { termsMax: 1000, charactersMax: 49 }
export const realtimeKeyterms: KeytermLimits = { termsMax: 50, charactersMax: 20 }

/** ProviderError `unsupported` for more than the vendor takes: it would refuse the request, where another provider may do it. */
export function keyterms(
  keywords: readonly string[] = [],
  { termsMax, charactersMax }: KeytermLimits,
): readonly string[] {
  const isTooMuch = keywords.length > termsMax || keywords.some((keyword) => keyword.length > charactersMax)
  if (isTooMuch) throw new ProviderError('unsupported', { sent: false, cause: 'keyterms beyond the limit' })
  return keywords
}
