/** Row types for the fault tables, and the surface places that rows name. */
import type { Capability } from '../../domain/ports/model.ts'
import type { ErrorCode } from '../../generated/router/errors.ts'

/** Where a surface's requests name things. Null if the surface has no such place. */
export type Places = Readonly<
  Record<
    | 'language'
    | 'text'
    | 'model'
    | 'pinnedModel'
    | 'allowedProviders'
    | 'deniedProviders'
    | 'options'
    | 'idempotencyKey',
    string | null
  >
> & {
  /** True if requests name a model by one string. Otherwise they have a routing object. */
  readonly namesModel: boolean
  /** The places of model requirements. Without an entry, a requirement has several places, or no place. */
  asks: Readonly<Partial<Record<Capability | 'language' | 'voice' | 'recording' | 'speech', string>>>
}

/** Values that a hint needs but the fault lacks. */
export type Saying = {
  retryAfterS: number
  /** ' with a new Idempotency-Key', or '' on a surface without such keys. */
  withNewKey: string
}

/** If a row has no message or hint, the code's is shown. */
export type Row<Data> = {
  code: ErrorCode
  /** The code if requests name a model by one string, if it differs there. */
  codeByName?: ErrorCode
  /** True if no repeated request can succeed, although clients repeat or may repeat this status. */
  isFinal?: true
  message?: string | ((data: Data) => string)
  hint?: string | ((data: Data, saying: Saying) => string)
  param?: (places: Places, data: Data) => string | null
}
