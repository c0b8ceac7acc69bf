/** Reads the list of agents, and makes an agent. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { NewAgent } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: async ({ signal }) => (await platform.listAgents({ signal })).body,
})

export const refreshAgents = () => queries.invalidateQueries({ queryKey: ['agents'] })

export const useCreateAgent = () =>
  useMutation({
    mutationFn: async (body: NewAgent) => (await platform.createAgent({ body })).body,
    onSuccess: refreshAgents,
  })
