/** Conversations over rich messages, their messages, and the calls with the same person. */
import { queryOptions } from '@tanstack/react-query'
import type { Conversation } from '../../../generated/clients/typescript/models/platform.ts'
import type { ListConversationsCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { pagesQuery } from './queries.ts'

export type ConversationFilters = Omit<NonNullable<ListConversationsCall['query']>, 'limit' | 'cursor'>

const pageConversations = 50
const pageMessages = 100
/** A person seldom has more calls with an agent than this. */
const callsMax = 100

export const conversationsQuery = (filters: ConversationFilters) =>
  pagesQuery({
    queryKey: ['conversations', 'list', filters],
    limit: pageConversations,
    read: (signal, page) => platform.listConversations({ signal, query: { ...filters, ...page } }),
    next: ({ nextCursor }) => nextCursor,
  })

export const messagesQuery = (id: string) =>
  pagesQuery({
    queryKey: ['conversations', id],
    limit: pageMessages,
    read: (signal, page) => platform.listConversationMessages({ signal, path: { id }, query: page }),
    next: ({ nextCursor }) => nextCursor,
  })

/** The newest calls between the two numbers of a conversation. The API filters calls by one number. */
export const callsBetweenQuery = ({ phoneNumber, remoteNumber }: Conversation) =>
  queryOptions({
    queryKey: ['calls', 'between', phoneNumber, remoteNumber],
    queryFn: async ({ signal }) => {
      const query = { number: remoteNumber, limit: callsMax }
      const { calls } = (await platform.listCalls({ signal, query })).body
      return calls.filter(({ from, to }) => from === phoneNumber || to === phoneNumber)
    },
    // The provider may name a person by a short number, by which calls cannot be searched.
    enabled: phoneNumber !== null && remoteNumber.startsWith('+'),
  })
