/** Reads and changes API keys. The cache does not keep a secret, because a secret is shown only once. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { NewApiKey } from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const keysQuery = (isRevoked: boolean) =>
  queryOptions({
    queryKey: ['keys', isRevoked],
    queryFn: async ({ signal }) => (await platform.listKeys({ signal, query: { revoked: isRevoked } })).body,
  })

const refreshKeys = () => queries.invalidateQueries({ queryKey: ['keys'] })

export const useCreateKey = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: NewApiKey) => (await platform.createKey({ body })).body,
    onSuccess: refreshKeys,
  })

export const useRotateKey = (id: string) =>
  useMutation({
    gcTime: 0,
    mutationFn: async (overlapSeconds: number) =>
      (await platform.rotateKey({ path: { id }, body: { overlapSeconds } })).body,
    onSuccess: refreshKeys,
  })

export const useRevokeKey = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.revokeKey({ path: { id } })).body,
    onSuccess: refreshKeys,
  })
