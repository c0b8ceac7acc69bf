/** The models that the router can use, with the figures that rank them. */
import { queryOptions } from '@tanstack/react-query'
import type { ListModelsCall } from '../../../generated/clients/typescript/router.ts'
import { router } from './clients.ts'

export type RankingQuery = NonNullable<ListModelsCall['query']>

export const rankingQuery = (query: RankingQuery) =>
  queryOptions({
    queryKey: ['ranking', query],
    queryFn: async ({ signal }) => (await router.listModels({ signal, query })).body,
  })

/** Whether the stand-in, a set of rules, is the only language model. */
export const standInQuery = queryOptions({
  ...rankingQuery({}),
  select: ({ models }) => {
    const languageModels = models.filter(({ kind }) => kind === 'llm')
    return languageModels.length > 0 && languageModels.every(({ pin }) => pin === 'local/scripted')
  },
})
