/** Reads the list of calls and one call with its events, and acts on calls. */
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type {
  CallList,
  Transfer,
  TransferDestination,
  TransferFallback,
} from '../../../generated/clients/typescript/models/platform.ts'
import type { ListCallsCall } from '../../../generated/clients/typescript/platform.ts'
import { platform } from './clients.ts'
import { type Failure, failureOf } from './failures.ts'
import { type Peaks, readPeaks } from './peaks.ts'
import { pagesQuery, queries } from './queries.ts'

export type CallFilters = Omit<NonNullable<ListCallsCall['query']>, 'limit' | 'cursor'>

/** The API allows no larger page. */
const pageCalls = 200

/** A live call is read again after this time, even if its stream is cut. */
const liveMs = 10_000
/** All events within this time cause one read. */
const gatherMs = 300

export const callsQuery = (filters: CallFilters) =>
  pagesQuery({
    queryKey: ['calls', 'list', filters],
    limit: pageCalls,
    read: (signal, page) => platform.listCalls({ signal, query: { ...filters, ...page } }),
    next: ({ next_cursor: cursor }) => cursor,
  })

export const callQuery = (id: string) =>
  queryOptions({
    queryKey: ['calls', id],
    queryFn: async ({ signal }) => (await platform.getCall({ signal, path: { id } })).body,
    refetchInterval: ({ state }) => (state.data?.ended_at === null ? liveMs : false),
  })

export const callEventsQuery = (id: string) =>
  queryOptions({
    queryKey: ['calls', id, 'events'],
    queryFn: async ({ signal }) => (await platform.listCallEvents({ signal, path: { id } })).body.events,
  })

export const callRequestsQuery = (id: string) =>
  queryOptions({
    queryKey: ['calls', id, 'requests'],
    queryFn: async ({ signal }) => (await platform.listCallRequests({ signal, path: { id } })).body,
  })

export const routeQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['routes', requestId],
    queryFn: async ({ signal }) => (await platform.getRequestRoute({ signal, path: { id: requestId } })).body,
  })

/** Reads one page of the list past the cache. */
export async function readCalls(filters: CallFilters, cursor: string | null, signal: AbortSignal): Promise<CallList> {
  const query = { ...filters, limit: pageCalls, ...(cursor !== null && { cursor }) }
  return (await platform.listCalls({ signal, query })).body
}

/** Reads the newest calls for the overview. */
export const newestQuery = (filters: CallFilters, limit: number) =>
  queryOptions({
    queryKey: ['calls', 'newest', filters, limit],
    queryFn: async ({ signal }) => (await platform.listCalls({ signal, query: { ...filters, limit } })).body.calls,
    refetchInterval: liveMs,
  })

const refreshCall = (id: string) => queries.invalidateQueries({ queryKey: ['calls', id] })

export const useEndCall = (id: string) =>
  useMutation({ mutationFn: () => platform.endCall({ path: { id } }), onSettled: () => refreshCall(id) })

export type NewTransfer = {
  kind: Transfer['kind']
  destination: TransferDestination
  /** Only warm transfers can have a fallback. */
  fallback: TransferFallback | null
}

export const useTransferCall = (id: string) =>
  useMutation({
    mutationFn: ({ kind, destination, fallback }: NewTransfer) => {
      const { to, metadata = null } = destination
      return kind === 'warm'
        ? platform.transferCallWarm({ path: { id }, body: { destinations: [destination], fallback } })
        : platform.transferCallBlind({ path: { id }, body: { to, metadata } })
    },
    onSettled: () => refreshCall(id),
  })

/** Connects the caller with the transfer's recipient. */
export const useCompleteTransfer = (id: string) =>
  useMutation({
    mutationFn: (transferId: string) => platform.completeTransfer({ path: { id, transferId }, body: {} }),
    onSettled: () => refreshCall(id),
  })

export const useCancelTransfer = (id: string) =>
  useMutation({
    mutationFn: (transferId: string) => platform.cancelTransfer({ path: { id, transferId }, body: {} }),
    onSettled: () => refreshCall(id),
  })

export const useFinalizeReport = (id: string) =>
  useMutation({
    mutationFn: () => platform.finalizeCallReport({ path: { id }, body: { forceAnalysis: true } }),
    onSettled: () => refreshCall(id),
  })

/** Calls a number. The answer has the call's id as soon as the server dials the number. */
export const usePlaceCall = () =>
  useMutation({
    mutationFn: async ({ agentId, to }: { agentId: string; to: string }) =>
      (await platform.createPhoneSession({ body: { agentId, to } })).body,
    onSettled: () => queries.invalidateQueries({ queryKey: ['calls'] }),
  })

/**
 * Reads the recording's first bytes, to learn why a player cannot play the recording: a browser shows a player no error
 * from the server. The data is null if the recording can be read. A fault may pass, so each read asks the server, and
 * the next visit of the page begins without a fault.
 */
const recordingFaultQuery = (id: string) =>
  queryOptions({
    queryKey: ['recordings', id, 'fault'],
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Failure | null> => {
      try {
        const { body } = await platform.getCallRecordingAudio({ signal, path: { id }, header: { range: 'bytes=0-43' } })
        await body.cancel()
        return null
      } catch (error) {
        return failureOf(error)
      }
    },
  })

/** Returns why the server does not send the recording, or null if no player has failed. */
export const useRecordingFault = (id: string): Failure | null =>
  useQuery({ ...recordingFaultQuery(id), enabled: false }).data ?? null

/** Call this if a player cannot play the recording. */
export const readRecordingFault = (id: string) => queries.prefetchQuery(recordingFaultQuery(id))

/** Call this if a player can play the recording. */
export const clearRecordingFault = (id: string) => queries.setQueryData(recordingFaultQuery(id).queryKey, null)

/** Returns the recording's URL for an audio player. The browser adds the cookie. */
export const audioAddress = (id: string) => `/v1/calls/${encodeURIComponent(id)}/recording/audio`
export const bundleAddress = (id: string) => `/v1/calls/${encodeURIComponent(id)}/bundle`

/** Reads a live call again after each event in its stream. */
export function useFollow(id: string, isLive: boolean): void {
  useEffect(() => {
    if (!isLive) return
    const controller = new AbortController()
    void follow(id, controller.signal).catch(() => undefined)
    return () => controller.abort()
  }, [id, isLive])
}

async function follow(id: string, signal: AbortSignal): Promise<void> {
  const { body } = await platform.streamSession({ path: { id }, signal })
  let timer: ReturnType<typeof setTimeout> | undefined
  for await (const event of body) {
    if (event.event === 'end' || signal.aborted) continue
    clearTimeout(timer)
    timer = setTimeout(() => void refreshCall(id), gatherMs)
  }
}

/** Returns the waveform, or null if the call has no waveform yet. */
export function usePeaks(id: string, isReady: boolean): Peaks | null {
  const { data } = useQuery({
    queryKey: ['peaks', id],
    queryFn: async ({ signal }) => {
      const { body } = await platform.getRecordingPeaks({ signal, path: { id } })
      return readPeaks(await new Response(body).arrayBuffer())
    },
    enabled: isReady,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data ?? null
}
