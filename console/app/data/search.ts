/**
 * Reads and writes a URL's query as plain text: `?status=failed`. Without this, the router would put digits into
 * quotes.
 */
export const readSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

export function writeSearch(search: Record<string, unknown>): string {
  const kept = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Keeps only the parameters whose names are in the list. A page ignores all other parameters in its URL. */
export function pick<Name extends string>(
  search: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found = names.flatMap((name) =>
    typeof search[name] === 'string' && search[name] !== '' ? [[name, search[name]]] : [],
  )
  return Object.fromEntries(found) as Partial<Record<Name, string>>
}
