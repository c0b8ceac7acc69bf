import { queryOptions } from '@tanstack/react-query'
import { platform } from './clients.ts'

export const numbersQuery = queryOptions({
  queryKey: ['numbers'],
  queryFn: async ({ signal }) => (await platform.listPhoneNumbers({ signal })).body,
})
