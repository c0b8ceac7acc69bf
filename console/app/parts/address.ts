/** Reads the page's URL. The router knows the parameters' types, but pages must not import the routes. */
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
