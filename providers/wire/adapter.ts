/** The options that every vendor's adapter is made with, and a model as the adapter describes it. */

import type { Model, Stage } from '../../domain/ports/model.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { WarmOutcome } from './socket.ts'

export type VendorOptions = {
  /** The id of the provider in routes and in the catalog; mostly the vendor's name. */
  id: string
  /**
   * Replaces every host of the vendor, also for sockets (http: becomes ws:, https: wss:). Null means the vendor's
   * published hosts.
   */
  baseUrl: string | null
  /** The operator's key; null without one, so that only the keys of organizations can be used. */
  apiKey: string | null
  /** The ids of the models to serve; null for all of them. */
  models: readonly string[] | null
  /** Models that the configuration names and our list does not have. */
  more?: readonly VendorModel[]
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

export type Published = Pick<Model, 'benchmarks' | 'prices' | 'deprecationDate'>

/** The catalog's data. Each gateway opens its own, so that two in one process may use different files. */
export interface PublishedCatalog {
  /** The rows of a provider. `ids` null means all models. Throws RangeError for an id that the adapter does not serve. */
  rows: (vendor: string, provider: string, models: readonly VendorModel[], ids: readonly string[] | null) => Model[]
  /** The data of one model; the lists are empty for a model that is not in the catalog. */
  published: (vendor: string, stage: Stage, model: string) => Published
}
