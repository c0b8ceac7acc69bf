/** Providers of models: whose credentials they are called with, and how healthy their models are. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { ProviderKey } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

/** A process tells the others of a change within this time. */
const healthMs = 10_000

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: async ({ signal }) => (await platform.listProviders({ signal })).body,
})

export const providerHealthQuery = queryOptions({
  queryKey: ['providers', 'health'],
  queryFn: async ({ signal }) => (await platform.listProviderHealth({ signal })).body,
  refetchInterval: healthMs,
})

/** A key also adds models to the ranking, or removes them. */
const refreshProviders = () =>
  Promise.all(['providers', 'ranking'].map((name) => queries.invalidateQueries({ queryKey: [name] })))

/** The key is never kept in the cache. */
export const useStoreProviderKey = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: ProviderKey) => (await platform.putProviderKey({ body })).body,
    onSuccess: refreshProviders,
  })

/** A check changes neither the keys nor the health. */
export const useCheckProvider = () =>
  useMutation({ mutationFn: async (provider: string) => (await platform.checkProvider({ path: { provider } })).body })

export const useDeleteProviderKey = (provider: string) =>
  useMutation({
    mutationFn: () => platform.deleteProviderKey({ path: { provider } }),
    onSuccess: refreshProviders,
  })
