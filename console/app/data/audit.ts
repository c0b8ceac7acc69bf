/** The audit log: who changed what, when, and from where. */
import type { ListAuditEventsCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { pagesQuery } from './queries.ts'

export type AuditFilters = Omit<NonNullable<ListAuditEventsCall['query']>, 'limit' | 'cursor'>

const pageEvents = 50

export const auditQuery = (filters: AuditFilters) =>
  pagesQuery({
    queryKey: ['audit', filters],
    limit: pageEvents,
    read: (signal, page) => platform.listAuditEvents({ signal, query: { ...filters, ...page } }),
    next: ({ nextCursor }) => nextCursor,
  })
