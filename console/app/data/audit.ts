/** The audit log: who changed what, when, and from where. */
import { infiniteQueryOptions } from '@tanstack/react-query'
import type { ListAuditEventsCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'

export type AuditFilters = Omit<NonNullable<ListAuditEventsCall['query']>, 'limit' | 'cursor'>

const pageEvents = 50

export const auditQuery = (filters: AuditFilters) =>
  infiniteQueryOptions({
    queryKey: ['audit', filters],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filters, limit: pageEvents, ...(pageParam !== null && { cursor: pageParam }) }
      return (await platform.listAuditEvents({ signal, query })).body
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  })
