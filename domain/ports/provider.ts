import type { Model } from '../catalog/model.ts'
import type { Llm } from '../llm/llm.ts'
import type { Stt } from '../speech/stt.ts'
import type { Tts } from '../speech/tts.ts'

/** The adapters of one provider, bound to one key of it. An absent one means the provider has no model of that stage. */
export type ProviderPorts = { stt?: Stt; tts?: Tts; llm?: Llm }

/** One configured provider: its rows of the catalog, and its adapters with the operator's key. */
export type Provider = ProviderPorts & {
  id: string
  models: readonly Model[]
  /** Null when it can be called now; else why not, in words for `excluded[].reason` (for example `no_credential`). */
  unavailable: () => string | null
  /** The same adapters with an organization's own key, over the same connections. Absent: this provider takes no key. Cheap, nothing to close. */
  forKey?: (apiKey: string) => ProviderPorts | Promise<ProviderPorts>
  /** Ends what the adapter keeps open: pools, children. */
  close: () => Promise<void>
}
