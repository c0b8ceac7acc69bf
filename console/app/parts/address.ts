/** Reads the page's URL. Pages must not import the routes, so these functions have simpler types than the router. */
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'

/** Returns the query's parameters, whose values are text. */
export function useSearchValues(): Readonly<Record<string, unknown>> {
  const search: unknown = useSearch({ strict: false })
  return search as Readonly<Record<string, unknown>>
}

/**
 * Returns a function that changes some filters in the page's URL, or removes all filters with null. An empty text
 * removes a filter.
 */
export function useFilterChange<Filters extends object>(filters: Filters): (changed: Filters | null) => void {
  const navigate = useNavigate()
  return (changed) =>
    void navigate({ to: '.', search: changed === null ? {} : { ...filters, ...changed }, replace: true })
}

/** Returns the id in the path of a page about a single resource. */
export function usePathId(): string {
  const params: unknown = useParams({ strict: false })
  return (params as { id?: string }).id ?? ''
}
