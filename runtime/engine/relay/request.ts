import type { UpgradeRequest } from '../socket.ts'

/** A request to open a socket. The accepting process sends it to the owner. */
export type RelayRequest = Pick<UpgradeRequest, 'requestId' | 'authorization' | 'credential' | 'origin' | 'host'> & {
  /** `path` and `query` are as the client sent them. */
  path: string
  query: string
  /** The socket's span context, as headers; '' without a trace. */
  traceparent: string
  tracestate: string
}

/** Reads the request. Null if the text is not a request. */
export function readRelayRequest(text: string): RelayRequest | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown>
    return names.every((name) => typeof value[name] === 'string') ? (value as RelayRequest) : null
  } catch {
    return null
  }
}

const names = [
  'requestId',
  'authorization',
  'credential',
  'origin',
  'host',
  'path',
  'query',
  'traceparent',
  'tracestate',
] as const
