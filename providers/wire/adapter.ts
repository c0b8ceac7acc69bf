/** The common options for every vendor's adapter, and a model as the adapter describes it. */

import type { Model, Stage } from '../../domain/ports/model.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { WarmOutcome } from './socket.ts'

export type VendorOptions = {
  /** The provider's id in routes and in the catalog; mostly the vendor's name. */
  id: string
  /**
   * Replaces the addresses of all the vendor's hosts, also for sockets (http: becomes ws:, https: wss:). Null for the
   * vendor's published hosts.
   */
  baseUrl: string | null
  /** The operator's key. Null if there is no such key, so only organizations' keys can be used. */
  apiKey: string | null
  /** The model ids to serve, or null for all models. */
  models: readonly string[] | null
  /** Models named by the configuration but missing from our list. */
  more?: readonly VendorModel[]
  limits: OutboundLimits
  clock: Clock
  /** The rows' figures, prices and dates. */
  catalog: PublishedCatalog
  /** Why the provider cannot be called with the operator's key, or null if it can be called. */
  unavailable: string | null
  /** Called with each warm socket's outcome, for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** A model as its adapter describes it. Figures, prices and dates come from the catalog's data. */
export type VendorModel = Omit<Model, 'provider' | 'benchmarks' | 'prices' | 'deprecationDate' | 'lastResort'>

export type Published = Pick<Model, 'benchmarks' | 'prices' | 'deprecationDate'>

/**
 * The catalog's data. Each gateway opens a separate catalog, so that two gateways in one process may use different
 * files.
 */
export interface PublishedCatalog {
  /** Returns a provider's rows. If `ids` is null, all models. Throws RangeError if the adapter does not serve an id. */
  rows: (vendor: string, provider: string, models: readonly VendorModel[], ids: readonly string[] | null) => Model[]
  /** Returns one model's data. The lists are empty if the catalog does not contain the model. */
  published: (vendor: string, stage: Stage, model: string) => Published
}
