/** Conversations over rich messages, their messages, and the calls with the same person. */
import { replaceEqualDeep, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Conversation } from '../../../generated/clients/typescript/models/platform.ts'
import type { ListConversationsCall } from '../../../generated/clients/typescript/platform.ts'
import { callsOf } from './call-pages.ts'
import { callsQuery } from './calls.ts'
import { platform } from './clients.ts'
import { useLiveCalls } from './live-calls.ts'
import { type MessagePages, withLoaded } from './message-pages.ts'
import { pagesQuery } from './queries.ts'

export type ConversationFilters = Omit<NonNullable<ListConversationsCall['query']>, 'limit' | 'cursor'>

const pageConversations = 50
const pageMessages = 100
/** The server searches this many messages for a page. */
export const searchedMessages = 20_000

/**
 * While the browser tab is visible, the list and the open conversation each cost one request in this time. People at
 * one network address share a limit for requests.
 */
const newMs = 30_000

/**
 * All loaded pages are read together, so the pause grows with their number. If nothing could be read, only a person
 * tries again, because the page would change between failing and loading.
 */
const refetchInterval = ({ state: { data } }: { state: { data: { pages: readonly unknown[] } | undefined } }) =>
  data === undefined ? (false as const) : newMs * data.pages.length

export const conversationsQuery = (filters: ConversationFilters) => ({
  ...pagesQuery({
    queryKey: ['conversations', 'list', filters],
    limit: pageConversations,
    read: (signal, page) => platform.listConversations({ signal, query: { ...filters, ...page } }),
    next: ({ nextCursor }) => nextCursor,
  }),
  refetchInterval,
})

export const messagesQuery = (id: string) => ({
  ...pagesQuery({
    queryKey: ['conversations', id],
    limit: pageMessages,
    read: (signal, page) => platform.listConversationMessages({ signal, path: { id }, query: page }),
    next: ({ nextCursor }) => nextCursor,
  }),
  refetchInterval,
  // The library gives the data no type here.
  structuralSharing: (loaded: unknown, fresh: unknown) =>
    replaceEqualDeep(loaded, withLoaded(loaded as MessagePages | undefined, fresh as MessagePages)),
})

/** The provider may name a person by a short number, by which calls cannot be searched. */
export const hasCalls = ({ phoneNumber, remoteNumber }: Conversation) =>
  phoneNumber !== null && remoteNumber.startsWith('+')

const isNeverHeld = () => false

/**
 * The newest calls between a conversation's two numbers, as they come and change. The API filters calls by one number,
 * and a rich-message number has another id as a phone number, so the calls with the person are followed and filtered
 * here. `hasOlder` tells whether the person has older calls than the `searched` calls.
 */
export function useCallsBetween({ phoneNumber, remoteNumber }: Conversation) {
  const filters = useMemo(() => ({ number: remoteNumber }), [remoteNumber])
  const { data, error } = useInfiniteQuery(callsQuery(filters))
  useLiveCalls(filters, isNeverHeld)
  const searched = data ? callsOf(data) : []
  return {
    error,
    calls: searched.filter(({ from, to }) => from === phoneNumber || to === phoneNumber),
    searched: searched.length,
    hasOlder: data !== undefined && data.pages.at(-1)?.next_cursor !== null,
  }
}
