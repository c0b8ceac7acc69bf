/**
 * Reads the page's address. Pages must not import the routes, so these functions have simpler types than the router.
 */
import { useParams, useSearch } from '@tanstack/react-router'

/** Returns the query's parameters, whose values are text. */
export function useSearchValues(): Readonly<Record<string, unknown>> {
  const search: unknown = useSearch({ strict: false })
  return search as Readonly<Record<string, unknown>>
}

/** Returns the id in the path of a page about a single resource. */
export function usePathId(): string {
  const params: unknown = useParams({ strict: false })
  return (params as { id?: string }).id ?? ''
}
