/** Connections with SIP trunks, and numbers that come over a trunk. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type {
  ImportedPhoneNumber,
  NewSipConnection,
  SipConnectionChange,
} from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

/** The server asks the trunk each minute, and the page asks the server at this interval. */
const statusMs = 15_000

export const sipConnectionsQuery = queryOptions({
  queryKey: ['sip-connections'],
  queryFn: async ({ signal }) => (await platform.listSipConnections({ signal })).body,
  refetchInterval: statusMs,
})

const refreshConnections = () => queries.invalidateQueries({ queryKey: ['sip-connections'] })

/** Passwords are sent once, and never kept in the cache. */
export const useConnectTrunk = () =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: NewSipConnection) => (await platform.createSipConnection({ body })).body,
    onSuccess: refreshConnections,
  })

export const useChangeTrunk = (id: string) =>
  useMutation({
    gcTime: 0,
    mutationFn: async (body: SipConnectionChange) => (await platform.updateSipConnection({ path: { id }, body })).body,
    onSuccess: refreshConnections,
  })

export const useRemoveTrunk = (id: string) =>
  useMutation({
    mutationFn: () => platform.deleteSipConnection({ path: { id } }),
    onSuccess: refreshConnections,
  })

export const useCheckTrunk = () =>
  useMutation({
    mutationFn: async (id: string) => (await platform.checkSipConnection({ path: { id } })).body,
    onSuccess: refreshConnections,
  })

export const useImportNumber = () =>
  useMutation({
    mutationFn: async (body: ImportedPhoneNumber) => (await platform.importPhoneNumber({ body })).body,
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['numbers'] })
      return refreshConnections()
    },
  })
