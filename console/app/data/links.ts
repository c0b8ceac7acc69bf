/** API requests for links from a mail or from the operator: invitations and new passwords. */
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

/** The invitation, or null if its link is used, replaced, expired or incomplete. */
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

/** A new password ends all sessions of the person, so the cache is cleared. */
export const useResetPassword = () =>
  useMutation({
    gcTime: 0,
    mutationFn: (body: PasswordReset) => signing.resetPassword({ body }),
    onSuccess: () => queries.clear(),
  })
