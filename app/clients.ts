/** The meaning of the setting `clients`: the clients that a server is for decide names of headers, streams and rows. */
import type { ParleyConfig } from '../generated/config/types.ts'

export type ServedClients = {
  /** Replaces `Service` in names of headers and subprotocols. */
  headerPrefix: string
  /** Whether `/v1/complete` and `/v1/transcribe` stream to clients whose Accept header does not decide. */
  nativeStreams: boolean
  /** Whether requests and rows of the platform surface are those of the published SDKs. */
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
