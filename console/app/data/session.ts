/** The session: the person's organization. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Organization } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { isSignedOut } from './failures.ts'
import { sessionKey } from './queries.ts'

export type Session = { organization: Pick<Organization, 'id' | 'name'> }

/** The session, or null without a session. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ signal }): Promise<Session | null> => {
    try {
      const { body } = await platform.getOrganization({ signal })
      return { organization: { id: body.id, name: body.name } }
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** Returns the session. Pages inside the frame always have one. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('No page is shown without a session.')
  return data
}
