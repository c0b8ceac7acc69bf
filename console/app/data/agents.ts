import { queryOptions } from '@tanstack/react-query'
import { platform } from './clients.ts'

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async ({ signal }) => (await platform.listAgents({ signal })).body,
})
