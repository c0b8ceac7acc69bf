/** Reads the session (person, organization, role), signs people in and signs them out. */
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import type { ConsoleSession, ConsoleSetup, PasswordSignIn } from '../../../generated/console/types.ts'
import { signing } from './clients.ts'
import { isSignedOut } from './failures.ts'
import { queries, sessionKey } from './queries.ts'

/** The server marks the page if the browser has no session. Then a request would only be refused. */
const { session: mark } = document.documentElement.dataset

/** Reads the session. The answer is null if the browser has no session. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ signal }): Promise<ConsoleSession | null> => {
    try {
      return (await signing.getConsoleSession({ signal })).body
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
  ...(mark === 'none' && { initialData: null }),
  staleTime: Number.POSITIVE_INFINITY,
})

export const methodsQuery = queryOptions({
  queryKey: ['methods'],
  queryFn: async ({ signal }) => (await signing.getConsoleMethods({ signal })).body,
})

/** Returns the session. Pages inside the console's frame are shown only with a session. */
export function useSession(): ConsoleSession {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('No page is shown without a session.')
  return data
}

const otherAnswers = { predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== sessionKey[0] }

/**
 * Removes all other answers, because another session sees other data. The session stays in the cache, because the frame
 * shows the session.
 */
export function begin(session: ConsoleSession | null): void {
  queries.setQueryData(sessionKey, session)
  queries.removeQueries(otherAnswers)
}

export const useSignIn = () =>
  useMutation({
    mutationFn: async (body: PasswordSignIn) => (await signing.signIn({ body })).body,
    onSuccess: begin,
  })

export const useSetUp = () =>
  useMutation({
    mutationFn: async (body: ConsoleSetup) => (await signing.setUpConsole({ body })).body,
    onSuccess: begin,
  })

export const useChooseOrganization = () =>
  useMutation({
    mutationFn: async (organizationId: string) => (await signing.chooseOrganization({ body: { organizationId } })).body,
    onSuccess: (session) => {
      queries.setQueryData(sessionKey, session)
      // The shown page stays and reads its data again.
      void queries.resetQueries(otherAnswers)
    },
  })

export const useSignOut = () =>
  useMutation({
    mutationFn: (everywhere: boolean) => signing.signOut({ body: { everywhere } }),
    onSuccess: () => begin(null),
  })
