/** Calls that an agent has promised to make later. */
import { useMutation } from '@tanstack/react-query'
import type { ListCallbacksCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { pagesQuery, queries } from './queries.ts'

export type CallbackFilters = Omit<NonNullable<ListCallbacksCall['query']>, 'limit' | 'cursor'>

const pageCallbacks = 50
/** A callback becomes due by itself, so the list is read again after this time. */
const dueMs = 10_000

export const callbacksQuery = (filters: CallbackFilters) => ({
  ...pagesQuery({
    queryKey: ['callbacks', filters],
    limit: pageCallbacks,
    read: (signal, page) => platform.listCallbacks({ signal, query: { ...filters, ...page } }),
    next: ({ next_cursor: cursor }) => cursor,
  }),
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
