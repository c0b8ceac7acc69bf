import type { Aligner } from './alignment.ts'
import type { Llm } from './llm.ts'
import type { Model, Stage } from './model.ts'
import type { Stt } from './stt.ts'
import type { Tts } from './tts.ts'

/**
 * The ports of one provider by kind, bound to one key. A provider lacks the kinds that it does not serve.
 * A further kind, such as a carrier, is one more member here: nothing enumerates them.
 */
export type ProviderPorts = {
  speech?: { stt?: Stt; tts?: Tts; aligner?: Aligner }
  llm?: Llm
}

/** One configured provider: its rows of the catalog, and its ports with the operator's key. */
export type Provider = {
  id: string
  models: readonly Model[]
  /** The region that the configuration names for it. */
  region?: string
  ports: ProviderPorts
  /** Null when it can be called now; else the reason for `excluded[].reason`, for example `no_credential`. */
  unavailable: () => string | null
  /**
   * The same ports with an organization's own key, over the same connections. It is cheap and leaves nothing to close.
   * Absent: this provider takes no key.
   */
  forKey?: (apiKey: string) => ProviderPorts | Promise<ProviderPorts>
  /** The environment variable whose absence makes it unavailable for want of a credential. */
  credentialVariable?: string
  /**
   * The row of a model that `models` does not have, for a request that pins it; null where its adapter cannot tell what
   * such a model takes. Absent: only the models of the list are served.
   */
  unlisted?: (stage: Stage, model: string) => Model | null
  /** Whether the id is one that this provider is known to give to its models of this stage. */
  isOwn?: (stage: Stage, model: string) => boolean
  /**
   * Begins what the next stream or request of this stage would have to wait for, such as the start of a process. Returns
   * at once; a failure is left to that request. Absent: nothing has to be started.
   */
  warmUp?: (stage: Stage) => void
  /** Jobs that wait for the engines that this provider runs itself, by engine. Absent: it runs none. */
  queues?: () => Readonly<Record<string, number>>
  /** Ends what the adapter keeps open: pools, children. */
  close: () => Promise<void>
}
