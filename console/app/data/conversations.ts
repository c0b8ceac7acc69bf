/** Conversations over rich messages, their messages, and the calls with the same person. */
import { queryOptions, replaceEqualDeep } from '@tanstack/react-query'
import type { Conversation } from '../../../generated/clients/typescript/models/platform.ts'
import type { ListConversationsCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { type MessagePages, withLoaded } from './message-pages.ts'
import { pagesQuery } from './queries.ts'

export type ConversationFilters = Omit<NonNullable<ListConversationsCall['query']>, 'limit' | 'cursor'>

const pageConversations = 50
const pageMessages = 100
/** The server searches this many messages for a page. */
export const searchedMessages = 20_000
/** A conversation searches at most this many calls with the person. */
export const callsMax = 100

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

/**
 * The newest calls between a conversation's two numbers. The API filters calls by one number, and a rich-message
 * number has another id as a phone number, so the calls with the person are read and filtered here. `hasOlder` tells
 * whether the person has older calls, which are not read. A person who returns to the browser tab sees new calls.
 */
export const callsBetweenQuery = ({ phoneNumber, remoteNumber }: Conversation) =>
  queryOptions({
    queryKey: ['calls', 'between', phoneNumber, remoteNumber],
    queryFn: async ({ signal }) => {
      const query = { number: remoteNumber, limit: callsMax }
      const { calls, next_cursor: next } = (await platform.listCalls({ signal, query })).body
      const between = calls.filter(({ from, to }) => from === phoneNumber || to === phoneNumber)
      return { calls: between, hasOlder: next !== null }
    },
    refetchOnWindowFocus: true,
    // The provider may name a person by a short number, by which calls cannot be searched.
    enabled: phoneNumber !== null && remoteNumber.startsWith('+'),
  })
