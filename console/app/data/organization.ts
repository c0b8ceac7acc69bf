/** The organization that the person works in. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { OrganizationChange } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries, sessionKey } from './queries.ts'

export const organizationQuery = queryOptions({
  queryKey: ['organization'],
  queryFn: async ({ signal }) => (await platform.getOrganization({ signal })).body,
})

/** The session has the organization's name and time zone too. */
export const useChangeOrganization = () =>
  useMutation({
    mutationFn: async (body: OrganizationChange) => (await platform.updateOrganization({ body })).body,
    onSuccess: (organization) => {
      queries.setQueryData(organizationQuery.queryKey, organization)
      return queries.invalidateQueries({ queryKey: sessionKey })
    },
  })
