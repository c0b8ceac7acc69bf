/** Reads and changes webhook endpoints, and the secret that signs their events. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { NewWebhook, WebhookChange, WebhookEventType } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { refreshDeliveries } from './deliveries.ts'
import { queries } from './queries.ts'

export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: async ({ signal }) => (await platform.listWebhooks({ signal })).body.data,
})

export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) => (await platform.getWebhook({ signal, path: { id } })).body,
  })

const refreshWebhooks = () => queries.invalidateQueries({ queryKey: ['webhooks'] })

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

/** Sends failed deliveries again that were created at `since` or later. */
export const useRecoverWebhook = (id: string) =>
  useMutation({
    mutationFn: async (since: string) => (await platform.recoverWebhook({ path: { id }, body: { since } })).body,
    onSettled: refreshDeliveries,
  })

/** Reads the secret when a person asks for it. The cache does not keep the secret. */
export const useShowSecret = () =>
  useMutation({ gcTime: 0, mutationFn: async () => (await platform.getWebhookSecret()).body })

export const useRotateSecret = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (overlapSeconds: number) =>
      (await platform.rotateWebhookSecret({ body: { overlapSeconds } })).body,
  })
