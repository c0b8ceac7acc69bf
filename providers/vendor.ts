/** What every vendor's adapter is made with, and what a vendor is in the table of them. */

import type { Model } from '../domain/catalog/model.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { OutboundLimits } from '../runtime/outbound/limits.ts'
import type { WarmOutcome } from './wire/socket.ts'

export type VendorOptions = {
  /** Of the provider, in routes and in the catalog; mostly the vendor's own name. */
  id: string
  /** Stands for every host of the vendor, sockets too (http: becomes ws:, https: wss:); null: the vendor's own. */
  baseUrl: string | null
  /** The operator's; null where there is none, and only organizations' own keys can call it. */
  apiKey: string | null
  /** Ids of the vendor's rows to serve; null: all of them. */
  models: readonly string[] | null
  limits: OutboundLimits
  clock: Clock
  /** Why it cannot be called with the operator's key, or null. */
  unavailable: string | null
  /** Hears whether sockets that were opened ahead were of use; for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** What an adapter says of a model; figures, prices and dates come from the catalog's data. */
export type VendorModel = Omit<Model, 'provider' | 'benchmarks' | 'prices' | 'deprecationDate' | 'lastResort'>
