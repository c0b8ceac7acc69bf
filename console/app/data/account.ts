/** The person's own account: name, password, and the sessions in all browsers. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { PasswordChange } from '../../../generated/console/types.ts'
import { signing } from './clients.ts'
import { queries, sessionKey } from './queries.ts'

const mySessionsKey = ['my-sessions'] as const

export const mySessionsQuery = queryOptions({
  queryKey: mySessionsKey,
  queryFn: async ({ signal }) => (await signing.listMySessions({ signal })).body,
})

const refreshSessions = () => queries.invalidateQueries({ queryKey: mySessionsKey })

export const useEndMySession = () =>
  useMutation({
    mutationFn: (id: string) => signing.endMySession({ path: { id } }),
    onSettled: refreshSessions,
  })

export const useRename = () =>
  useMutation({
    mutationFn: async (name: string) => (await signing.updateMe({ body: { name } })).body,
    onSuccess: (session) => queries.setQueryData(sessionKey, session),
  })

/** All other sessions end, and this browser gets a new cookie. */
export const useChangePassword = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: PasswordChange) => (await signing.changePassword({ body })).body,
    onSuccess: (session) => {
      queries.setQueryData(sessionKey, session)
      return refreshSessions()
    },
  })
