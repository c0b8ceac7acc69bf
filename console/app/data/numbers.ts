/** Reads and changes the organization's phone numbers, and searches numbers to buy. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { NewPhoneNumber, PhoneNumberChange } from '../../../generated/clients/typescript/models/platform.ts'
import { PlatformApiError, type SearchPhoneNumbersCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export type NumberSearch = NonNullable<SearchPhoneNumbersCall['query']>

const foundMax = 20

export const numbersQuery = queryOptions({
  queryKey: ['numbers'],
  queryFn: async ({ signal }) => (await platform.listPhoneNumbers({ signal })).body,
})

export const availableQuery = (search: NumberSearch) =>
  queryOptions({
    queryKey: ['numbers', 'available', search],
    queryFn: async ({ signal }) =>
      (await platform.searchPhoneNumbers({ signal, query: { ...search, limit: foundMax } })).body,
  })

const refreshNumbers = () => queries.invalidateQueries({ queryKey: ['numbers'] })

/** Buys a number. Because of the idempotency key, a second press of the button does not buy again. */
export const useBuyNumber = () =>
  useMutation({
    mutationFn: async ({ body, key }: { body: NewPhoneNumber; key: string }) =>
      (await platform.purchasePhoneNumber({ body, idempotencyKey: key })).body,
    onSuccess: refreshNumbers,
  })

export const needsVerification = (error: unknown) =>
  error instanceof PlatformApiError && error.code === 'BUSINESS_VERIFICATION_REQUIRED'

export const useChangeNumber = (id: string) =>
  useMutation({
    mutationFn: async (body: PhoneNumberChange) => (await platform.updatePhoneNumber({ path: { id }, body })).body,
    onSuccess: refreshNumbers,
  })

export const useReleaseNumber = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.deletePhoneNumber({ path: { id } })).body,
    onSuccess: refreshNumbers,
  })
