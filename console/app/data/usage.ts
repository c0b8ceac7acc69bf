/** Reads the organization's usage and credit. */
import { queryOptions } from '@tanstack/react-query'
import type { GetUsageCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { pagesQuery } from './queries.ts'

export type UsageQuery = NonNullable<GetUsageCall['query']>

const pageMovements = 25

export const usageQuery = (query: UsageQuery) =>
  queryOptions({
    queryKey: ['usage', query],
    queryFn: async ({ signal }) => (await platform.getUsage({ signal, query })).body,
  })

export const creditsQuery = pagesQuery({
  queryKey: ['credits'],
  limit: pageMovements,
  read: (signal, page) => platform.getCredits({ signal, query: page }),
  next: ({ nextCursor }) => nextCursor,
})
