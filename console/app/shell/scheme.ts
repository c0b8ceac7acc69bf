/** Stores the person's choice of colours in this browser. Without a choice the page has the system's colours. */
export type Scheme = 'system' | 'light' | 'dark'

const storageKey = 'parley.scheme'
export const schemes: readonly Scheme[] = ['system', 'light', 'dark']

export function storedScheme(): Scheme {
  const stored = localStorage.getItem(storageKey)
  return schemes.find((scheme) => scheme === stored) ?? 'system'
}

export function storeScheme(scheme: Scheme): void {
  localStorage.setItem(storageKey, scheme)
  applyScheme(scheme)
}

/** Without the attribute `data-scheme`, the style sheet follows the system. */
export function applyScheme(scheme: Scheme): void {
  const { dataset } = document.documentElement
  if (scheme === 'system') delete dataset['scheme']
  else dataset['scheme'] = scheme
}
