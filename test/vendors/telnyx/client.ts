/**
 * The carrier's client for Node. It drives the simulator and verifies its webhooks. It is installed apart from the
 * product.
 */
import { createRequire } from 'node:module'

type Answer = Promise<{ data?: Record<string, unknown> }>
type Options = { apiKey: string; baseURL: string; maxRetries: number; publicKey?: string }
export type Client = {
  calls: {
    dial(body: object): Answer
    retrieveStatus(id: string): Answer
    actions: Record<
      'answer' | 'hangup' | 'bridge' | 'transfer' | 'reject' | 'sendDtmf' | 'startStreaming' | 'stopStreaming',
      (id: string, body: object) => Answer
    >
  }
  availablePhoneNumbers: { list(query: object): Promise<{ data?: Record<string, unknown>[] }> }
  numberOrders: { create(body: object): Answer; retrieve(id: string): Answer }
  phoneNumbers: { delete(id: string): Answer; list(query: object): Promise<{ data?: Record<string, unknown>[] }> }
  connections: { listActiveCalls(id: string, query: object): Promise<unknown> }
  messaging10dlc: { campaign: { list: (query: { brandId: string; recordsPerPage: number }) => Promise<unknown> } }
  messaging: { rcs: { agents: { retrieve(id: string): Answer } } }
  webhooks: { unwrap(body: string, options: { headers: Record<string, string>; key?: string }): Promise<unknown> }
}
type Library = { Telnyx: new (options: Options) => Client }

export const missing = 'telnyx is not installed: npm ci in test/vendors'

export function loadLibrary(): Library | null {
  try {
    return createRequire(import.meta.url)('telnyx') as Library
  } catch {
    return null
  }
}
