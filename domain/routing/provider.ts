import type { Llm } from '../llm/llm.ts'
import type { Stt } from '../speech/stt.ts'
import type { Tts } from '../speech/tts.ts'
import type { Model } from './model.ts'

/** One configured provider: its rows of the catalog and its adapters. An absent adapter means the provider has no model of that stage. */
export type Provider = {
  id: string
  models: readonly Model[]
  /** Null when it can be called now; else why not, in words for `excluded[].reason` (for example `no_credential`). */
  unavailable: () => string | null
  stt?: Stt
  tts?: Tts
  llm?: Llm
  /** Ends what the adapter keeps open: pools, children. */
  close: () => Promise<void>
}
