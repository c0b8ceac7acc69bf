/** Keeps answers in a cache. After a 401 the session is over, so the sign-in page comes. */
import { infiniteQueryOptions, QueryCache, QueryClient, type QueryKey } from '@tanstack/react-query'
import { isSignedOut } from './failures.ts'

/** A cached response is fresh for this time, so going back to a page shows it at once. */
const freshMs = 10_000

/** The cache key of the session. Other cache keys begin with a resource's name. */
export const sessionKey = ['session'] as const

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== sessionKey[0]) queries.setQueryData(sessionKey, null)
    },
  }),
  // The generated client already repeats requests that it may repeat.
  defaultOptions: { queries: { retry: false, staleTime: freshMs, refetchOnWindowFocus: false } },
})

type PagesOptions<Page> = {
  queryKey: QueryKey
  /** How many entries a page has. */
  limit: number
  read: (signal: AbortSignal, query: { limit: number; cursor?: string }) => Promise<{ body: Page }>
  /** Returns the cursor of the page after this page, or null after the last page. */
  next: (page: Page) => string | null
}

/** A list that is read page by page. */
export const pagesQuery = <Page>({ queryKey, limit, read, next }: PagesOptions<Page>) =>
  infiniteQueryOptions({
    queryKey,
    queryFn: async ({ signal, pageParam }) =>
      (await read(signal, { limit, ...(pageParam !== null && { cursor: pageParam }) })).body,
    initialPageParam: null as string | null,
    getNextPageParam: next,
  })
