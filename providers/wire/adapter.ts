/** The common options for every vendor's adapter, and the type for an adapter's model descriptions. */

import type { Model, Stage } from '../../domain/ports/model.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { WarmOutcome } from './socket.ts'

export type VendorOptions = {
  /** The provider's id in routes and in the catalog; usually the vendor's name. */
  id: string
  /**
   * Replaces all published base URLs, also for sockets (http: becomes ws:, https: becomes wss:). Null to use the
   * published URLs.
   */
  baseUrl: string | null
  /** The operator's key. Null if there is no operator's key, so only organizations' keys can be used. */
  apiKey: string | null
  /** The model ids to serve, or null for all models. */
  models: readonly string[] | null
  /** Models listed in the configuration but missing from our list. */
  more?: readonly VendorModel[]
  limits: OutboundLimits
  clock: Clock
  /** The catalog with the rows' figures, prices and dates. */
  catalog: PublishedCatalog
  /** The reason why the provider cannot be used with the operator's key, or null if it can be used. */
  unavailable: string | null
  /** Called with the outcome each time a socket is opened or a warm socket is used, for the metrics. */
  observeWarm?: (outcome: WarmOutcome) => void
}

/** A model as its adapter describes it. Figures, prices and dates come from the catalog's data. */
export type VendorModel = Omit<Model, 'provider' | 'benchmarks' | 'prices' | 'deprecationDate' | 'lastResort'>

export type Published = Pick<Model, 'benchmarks' | 'prices' | 'deprecationDate'>

/**
 * The catalog's data. Each server opens a separate catalog, so that two servers in one process may use different
 * catalog files.
 */
export interface PublishedCatalog {
  /**
   * Returns a provider's rows for these model ids, or for all models if `ids` is null. Throws RangeError if the adapter
   * does not serve an id.
   */
  rows: (vendor: string, provider: string, models: readonly VendorModel[], ids: readonly string[] | null) => Model[]
  /** Returns one model's figures and prices. The lists are empty if the catalog does not contain the model. */
  published: (vendor: string, stage: Stage, model: string) => Published
}
