/** Uses the links of invitations and new passwords, which a mail or the operator brings. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type {
  ForgottenPassword,
  InvitationAcceptance,
  OpenInvitation,
  PasswordReset,
} from '../../../generated/console/types.ts'
import { signing } from './clients.ts'
import { isDeadLink } from './failures.ts'
import { queries } from './queries.ts'
import { begin } from './session.ts'

/** Reads the invitation. The answer is null if the link is used, replaced, expired or cut. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ['invitation', token],
    queryFn: async ({ signal }): Promise<OpenInvitation | null> => {
      if (token === '') return null
      try {
        return (await signing.readInvitation({ body: { token }, signal })).body
      } catch (error) {
        if (isDeadLink(error)) return null
        throw error
      }
    },
    gcTime: 0,
  })

export const useAcceptInvitation = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: InvitationAcceptance) => (await signing.acceptInvitation({ body })).body,
    onSuccess: begin,
  })

export const useForgotPassword = () =>
  useMutation({ mutationFn: (body: ForgottenPassword) => signing.forgotPassword({ body }) })

/** Empties the cache, because all the person's sessions have ended. */
export const useResetPassword = () =>
  useMutation({
    gcTime: 0,
    mutationFn: (body: PasswordReset) => signing.resetPassword({ body }),
    onSuccess: () => queries.clear(),
  })
