/** Reads and changes the organization's people and open invitations. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { NewInvitation, Role } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const roles: readonly Role[] = ['viewer', 'member', 'admin', 'owner']

export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: async ({ signal }) => (await platform.listMembers({ signal })).body,
})

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async ({ signal }) => (await platform.listInvitations({ signal })).body,
})

const refreshMembers = () => queries.invalidateQueries({ queryKey: ['members'] })
const refreshInvitations = () => queries.invalidateQueries({ queryKey: ['invitations'] })

export const useChangeRole = (userId: string) =>
  useMutation({
    mutationFn: async (role: Role) => (await platform.updateMember({ path: { userId }, body: { role } })).body,
    onSettled: refreshMembers,
  })

export const useRemoveMember = (userId: string) =>
  useMutation({
    mutationFn: async () => (await platform.removeMember({ path: { userId } })).body,
    onSuccess: refreshMembers,
  })

/** Invites a person. Only the answer has the link, so the cache does not keep the answer. */
export const useInvite = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: NewInvitation) => (await platform.createInvitation({ body })).body,
    onSuccess: refreshInvitations,
  })

export const useResendInvitation = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (id: string) => (await platform.resendInvitation({ path: { id } })).body,
    onSuccess: refreshInvitations,
  })

export const useDeleteInvitation = () =>
  useMutation({
    mutationFn: async (id: string) => (await platform.deleteInvitation({ path: { id } })).body,
    onSuccess: refreshInvitations,
  })
