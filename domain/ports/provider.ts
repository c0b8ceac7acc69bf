import type { Aligner } from './alignment.ts'
import type { Llm } from './llm.ts'
import type { Model, Stage } from './model.ts'
import type { Stt } from './stt.ts'
import type { Tts } from './tts.ts'

/**
 * One provider's ports by kind, bound to one key. A kind is absent if the provider does not serve it. A further kind,
 * such as a carrier, is one more member here: nothing enumerates them.
 */
export type ProviderPorts = {
  speech?: { stt?: Stt; tts?: Tts; aligner?: Aligner }
  llm?: Llm
}

/** One configured provider: its catalog rows, and its ports with the operator's key. */
export type Provider = {
  id: string
  models: readonly Model[]
  /** The configured region. */
  region?: string
  ports: ProviderPorts
  /** Null if it can be called now; else the reason for `excluded[].reason`, for example `no_credential`. */
  unavailable: () => string | null
  /**
   * The same ports with an organization's provider key, over the same connections. It is cheap and leaves nothing to
   * close. Absent if this provider takes no key.
   */
  forKey?: (apiKey: string) => ProviderPorts | Promise<ProviderPorts>
  /** Without this environment variable the provider is unavailable for lack of a credential. */
  credentialVariable?: string
  /**
   * Makes a row for a pinned model missing from `models`, or returns null if the adapter cannot tell the model's
   * abilities. If absent, only listed models are served.
   */
  unlisted?: (stage: Stage, model: string) => Model | null
  /** True if the id looks like this provider's model ids for this stage. */
  isOwn?: (stage: Stage, model: string) => boolean
  /**
   * Prepares for this stage's next stream or request, for example starts a process. Returns at once: if the preparation
   * fails, that request must find out. Absent if nothing has to be started.
   */
  warmUp?: (stage: Stage) => void
  /** Waiting jobs for this provider's local engines, by engine. Absent if it runs no engine here. */
  queues?: () => Readonly<Record<string, number>>
  /** Closes the adapter's pools and child processes. */
  close: () => Promise<void>
}
