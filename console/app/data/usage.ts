/** Reads the organization's usage and credit. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { GetUsageCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'

export type UsageQuery = NonNullable<GetUsageCall['query']>

const pageMovements = 25

export const usageQuery = (query: UsageQuery) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: async ({ signal }) => (await platform.getUsage({ signal, query })).body,
  })

export const creditsQuery = infiniteQueryOptions({
  queryKey: ['credits'],
  queryFn: async ({ signal, pageParam }) => {
    const query = { limit: pageMovements, ...(pageParam !== null && { cursor: pageParam }) }
    return (await platform.getCredits({ signal, query })).body
  },
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.nextCursor,
})
