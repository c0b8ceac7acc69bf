/** The cache of answers. After a 401 the sign-in page comes, because the session is over. */
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { isSignedOut } from './failures.ts'

/** An answer is fresh for this time, so going back to a page shows it at once. */
const freshMs = 10_000

/** The session's key in the cache. Other keys begin with a resource's name. */
export const sessionKey = ['session'] as const

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (isSignedOut(error) && queryKey[0] !== sessionKey[0]) queries.setQueryData(sessionKey, null)
    },
  }),
  // The generated client repeats what may be repeated.
  defaultOptions: { queries: { retry: false, staleTime: freshMs, refetchOnWindowFocus: false } },
})
