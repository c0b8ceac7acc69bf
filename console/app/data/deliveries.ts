/** Reads the log of deliveries to webhook endpoints, and sends a delivery again. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { ListWebhookDeliveriesCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { pagesQuery, queries } from './queries.ts'

export type DeliveryFilters = Omit<NonNullable<ListWebhookDeliveriesCall['query']>, 'limit' | 'cursor'>

/** A page in the list has this many deliveries. */
const pageDeliveries = 50

/** While a delivery waits for its next attempt, it is read again after this time. */
const pendingMs = 3000

export const deliveriesQuery = (filters: DeliveryFilters) =>
  pagesQuery({
    queryKey: ['deliveries', 'list', filters],
    limit: pageDeliveries,
    read: (signal, page) => platform.listWebhookDeliveries({ signal, query: { ...filters, ...page } }),
    next: ({ nextCursor }) => nextCursor,
  })

/** Reads an endpoint's newest deliveries. While a delivery waits, they are read again. */
export const newestDeliveriesQuery = (endpointId: string, limit: number) =>
  queryOptions({
    queryKey: ['deliveries', 'newest', endpointId, limit],
    queryFn: async ({ signal }) =>
      (await platform.listWebhookDeliveries({ signal, query: { endpointId, limit } })).body.data,
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => isOpen(status)) ? pendingMs : false),
  })

/** Reads the deliveries of one call's events. */
export const callDeliveriesQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['deliveries', 'of call', sessionId],
    queryFn: async ({ signal }) =>
      (await platform.listWebhookDeliveries({ signal, query: { sessionId, limit: 100 } })).body,
  })

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', id],
    queryFn: async ({ signal }) => (await platform.getWebhookDelivery({ signal, path: { id } })).body,
    refetchInterval: ({ state }) => (isOpen(state.data?.status) ? pendingMs : false),
  })

const isOpen = (status: string | undefined) => status === 'pending' || status === 'delivering'

export const refreshDeliveries = () => queries.invalidateQueries({ queryKey: ['deliveries'] })

export const useSendAgain = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.redeliverWebhook({ path: { id } })).body,
    onSettled: refreshDeliveries,
  })
