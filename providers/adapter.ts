/** The options that every vendor's adapter is made with, and a model as the adapter describes it. */

import type { Model } from '../domain/catalog/model.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { OutboundLimits } from '../runtime/outbound/limits.ts'
import type { PublishedCatalog } from './catalog/rows.ts'
import type { WarmOutcome } from './wire/socket.ts'

export type VendorOptions = {
  /** The id of the provider in routes and in the catalog; mostly the vendor's name. */
  id: string
  /** Replaces every host of the vendor, also for sockets (http: becomes ws:, https: wss:). Null means the vendor's published hosts. */
  baseUrl: string | null
  /** The operator's key. Null if there is none, so that only the keys of organizations can be used. */
  apiKey: string | null
  /** The ids of the models to serve; null for all of them. */
  models: readonly string[] | null
  limits: OutboundLimits
  clock: Clock
  /** The figures, prices and dates of the rows. */
  catalog: PublishedCatalog
  /** The reason why it cannot be called with the operator's key, or null. */
  unavailable: string | null
  /** Is called with the use that was made of a warm socket, for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** A model as its adapter describes it. Figures, prices and dates come from the catalog's data. */
export type VendorModel = Omit<Model, 'provider' | 'benchmarks' | 'prices' | 'deprecationDate' | 'lastResort'>
