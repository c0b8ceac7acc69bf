/** Endpoints for webhook events, the log of their deliveries, and the secret that signs. */
import { infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query'
import type {
  ListWebhookDeliveriesCall,
  NewWebhook,
  WebhookChange,
  WebhookEventType,
} from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export type DeliveryFilters = Omit<NonNullable<ListWebhookDeliveriesCall['query']>, 'limit' | 'cursor'>

/** How many deliveries a page of the list has. */
const pageDeliveries = 50

/** While a delivery waits for its next attempt, it is read again after this time. */
const pendingMs = 3000

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async ({ signal }) => (await platform.listWebhooks({ signal })).body.data,
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) => (await platform.getWebhook({ signal, path: { id } })).body,
  })

export const deliveriesQuery = (filters: DeliveryFilters) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', 'list', filters],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filters, limit: pageDeliveries, ...(pageParam !== null && { cursor: pageParam }) }
      return (await platform.listWebhookDeliveries({ signal, query })).body
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  })

export const wholeDeliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', id],
    queryFn: async ({ signal }) => (await platform.getWebhookDelivery({ signal, path: { id } })).body,
    refetchInterval: ({ state }) => (isOpen(state.data?.status) ? pendingMs : false),
  })

const isOpen = (status: string | undefined) => status === 'pending' || status === 'delivering'

const refreshDeliveries = () => queries.invalidateQueries({ queryKey: ['deliveries'] })
const refreshWebhooks = () => queries.invalidateQueries({ queryKey: ['webhooks'] })

export const useSendAgain = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.redeliverWebhook({ path: { id } })).body,
    onSettled: refreshDeliveries,
  })

export const useCreateWebhook = () =>
  useMutation({
    mutationFn: async (body: NewWebhook) => (await platform.createWebhook({ body })).body,
    onSuccess: refreshWebhooks,
  })

export const useUpdateWebhook = (id: string) =>
  useMutation({
    mutationFn: async (body: WebhookChange) => (await platform.updateWebhook({ path: { id }, body })).body,
    onSuccess: refreshWebhooks,
  })

export const useDeleteWebhook = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.deleteWebhook({ path: { id } })).body,
    onSuccess: () => {
      queries.removeQueries({ queryKey: ['webhooks', id] })
      return queries.invalidateQueries({ queryKey: ['webhooks'], exact: true })
    },
  })

export const useTestWebhook = (id: string) =>
  useMutation({
    mutationFn: async (event: WebhookEventType) => (await platform.testWebhook({ path: { id }, body: { event } })).body,
    onSettled: refreshDeliveries,
  })

/** The secret is asked for by a person and never kept in the cache. */
export const useShowSecret = () =>
  useMutation({ gcTime: 0, mutationFn: async () => (await platform.getWebhookSecret()).body })

export const useRotateSecret = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (overlapSeconds: number) =>
      (await platform.rotateWebhookSecret({ body: { overlapSeconds } })).body,
  })
