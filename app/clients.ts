/**
 * Interprets the setting `clients`. With `family`, headers, streams and rows have the names and formats that the
 * published SDKs of the hosted product expect.
 */
import type { ParleyConfig } from '../generated/config/types.ts'

export type ServedClients = {
  /** The word that replaces `Service` in header names and subprotocols. */
  headerPrefix: string
  /** True if `/v1/complete` and `/v1/transcribe` stream by default, when the Accept header names no type. */
  nativeStreams: boolean
  /** True if the platform API's requests and rows have the format of the published SDKs. */
  isFamily: boolean
}

/** The published SDKs write `X-Speko-Intent` and open `speko.realtime.v1`. */
const familyPrefix = 'Speko'

export function clientsOf(config: Pick<ParleyConfig, 'clients' | 'headerPrefix' | 'complete'>): ServedClients {
  const isFamily = config.clients === 'family'
  return {
    headerPrefix: config.headerPrefix ?? (isFamily ? familyPrefix : 'Service'),
    nativeStreams: isFamily || config.complete.streams,
    isFamily,
  }
}
