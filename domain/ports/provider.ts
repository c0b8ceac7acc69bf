import type { Aligner } from './alignment.ts'
import type { Llm } from './llm.ts'
import type { Model, Stage } from './model.ts'
import type { Stt } from './stt.ts'
import type { CancelSignal } from './system.ts'
import type { Tts } from './tts.ts'

/**
 * One provider's interfaces by kind, all with the same provider key. A kind is absent if the provider does not serve
 * it. To add a kind, such as a carrier, add a member here. No other code lists the members.
 */
export type ProviderPorts = {
  speech?: { stt?: Stt; tts?: Tts; aligner?: Aligner }
  llm?: Llm
  /** Absent if the provider has no request that proves the key and costs nothing. */
  keyCheck?: KeyCheck
}

export type KeyCheck = {
  /**
   * Sends the cheapest request that proves the key. The provider charges nothing for it. Resolves with the HTTP status
   * if the provider accepts the key, else rejects with ProviderError.
   */
  send: (signal: CancelSignal) => Promise<number>
  /** False if the server may answer the request without a key. Then the answer proves only that the server is there. */
  needsKey: boolean
}

/** A model that this machine could serve. The command gets its files. */
export type Installable = { model: Model; command: string }

/** A configured provider: its catalog rows, and its interfaces with the operator's key. */
export type Provider = {
  id: string
  models: readonly Model[]
  /** Changes each row in `models`, also rows that appear later. Absent if no row appears or disappears by itself. */
  rewriteModels?: (change: (model: Model) => Model) => void
  /** The provider's region, from the configuration. */
  region?: string
  ports: ProviderPorts
  /**
   * Returns null if the provider can be called now. Otherwise returns the reason for `excluded[].reason`, for example
   * `no_credential`.
   */
  unavailable: () => string | null
  /**
   * Makes the same interfaces with an organization's provider key, over the same connections. The function is cheap,
   * and its result need not be closed. Absent if this provider uses no key.
   */
  forKey?: (apiKey: string) => ProviderPorts | Promise<ProviderPorts>
  /** The environment variable with the credential. Without it the provider is unavailable. */
  credentialVariable?: string
  /** Returns the models that the operator may add with a command. Absent if there are no such models. */
  installable?: () => readonly Installable[]
  /**
   * Makes a row for a pinned model that is missing from `models`. Returns null if the adapter cannot determine the
   * model's abilities. If `unlisted` is absent, only listed models are served.
   */
  unlisted?: (stage: Stage, model: string) => Model | null
  /** Returns true if the id looks like this provider's model ids for this stage. */
  isOwn?: (stage: Stage, model: string) => boolean
  /**
   * Prepares for the next stream or request to this model, for example by starting a process. Returns at once. If the
   * preparation fails, the next request fails. Absent if nothing has to be started.
   */
  warmUp?: (stage: Stage, model: string) => void
  /** Counts the waiting jobs for each local engine. Absent if the provider runs no engine on this machine. */
  queues?: () => Readonly<Record<string, number>>
  /** Closes the adapter's connection pools and child processes. */
  close: () => Promise<void>
}
