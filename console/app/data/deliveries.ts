/** Deliveries to webhook endpoints. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const callDeliveriesQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['deliveries', { sessionId }],
    queryFn: async ({ signal }) =>
      (await platform.listWebhookDeliveries({ signal, query: { sessionId, limit: 100 } })).body,
  })

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['deliveries', id],
    queryFn: async ({ signal }) => (await platform.getWebhookDelivery({ signal, path: { id } })).body,
  })

export const useRedeliver = () =>
  useMutation({
    mutationFn: (id: string) => platform.redeliverWebhook({ path: { id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['deliveries'] }),
  })
