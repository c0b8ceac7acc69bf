/** The types for the fault tables: a row for each fault, and the surface's request fields to name in the row. */
import type { Capability } from '../../domain/ports/model.ts'
import type { ErrorCode } from '../../generated/router/errors.ts'

/** The names of a surface's request fields, by their meaning. Null if the surface has no such field. */
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
  /** The fields that state model requirements. A requirement without an entry has several fields, or no field. */
  asks: Readonly<Partial<Record<Capability | 'language' | 'voice' | 'recording' | 'speech', string>>>
}

/** Values that a hint needs but the fault lacks. */
export type Saying = {
  retryAfterS: number
  /** ' with a new Idempotency-Key', or '' on a surface without such keys. */
  withNewKey: string
}

/** A fault's code and words. If the row has no message or no hint, the code's usual message or hint is shown. */
export type Row<Data> = {
  code: ErrorCode
  /** Replaces the code on surfaces whose requests name a model by one string. */
  codeByName?: ErrorCode
  /**
   * True if the same request can never succeed. The client must then not repeat it, although a client may normally
   * repeat a request with this status.
   */
  isFinal?: true
  message?: string | ((data: Data) => string)
  hint?: string | ((data: Data, saying: Saying) => string)
  param?: (places: Places, data: Data) => string | null
}
