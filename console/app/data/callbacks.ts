/** Calls that an agent has promised to make later. */
import { infiniteQueryOptions, useMutation } from '@tanstack/react-query'
import type { ListCallbacksCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export type CallbackFilters = Omit<NonNullable<ListCallbacksCall['query']>, 'limit' | 'cursor'>

const pageCallbacks = 50
/** A callback becomes due by itself, so the list is read again after this time. */
const dueMs = 10_000

export const callbacksQuery = (filters: CallbackFilters) =>
  infiniteQueryOptions({
    queryKey: ['callbacks', filters],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...filters, limit: pageCallbacks, ...(pageParam !== null && { cursor: pageParam }) }
      return (await platform.listCallbacks({ signal, query })).body
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: dueMs,
  })

const refreshCallbacks = () => queries.invalidateQueries({ queryKey: ['callbacks'] })

export const useCancelCallback = () =>
  useMutation({
    mutationFn: (id: string) => platform.cancelCallback({ path: { id }, body: {} }),
    onSettled: refreshCallbacks,
  })

export const useDispatchCallback = () =>
  useMutation({
    mutationFn: (id: string) => platform.dispatchCallback({ path: { id } }),
    onSettled: refreshCallbacks,
  })
