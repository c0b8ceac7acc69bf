/** The types of the fault tables: a row for each fault, and the locations of request fields for the row's message. */
import type { Capability } from '../../domain/ports/model.ts'
import type { ErrorCode } from '../../generated/router/errors.ts'

/**
 * The location of each request field in one API: a JSON pointer, or the name of a header or form field. Null if the API
 * has no such field.
 */
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
  /**
   * For each capability, the field to require it. A capability has no entry if no field, or more than one field,
   * requires it.
   */
  asks: Readonly<Partial<Record<Capability | 'language' | 'voice' | 'recording' | 'speech', string>>>
}

/** Values that a hint's text can use besides the fault's data. */
export type Saying = {
  retryAfterS: number
  /** ' with a new Idempotency-Key', or '' on an API without such keys. */
  withNewKey: string
}

/** A fault's code and words. If the row has no message or no hint, the code's usual message or hint is shown. */
export type Row<Data> = {
  code: ErrorCode
  /** Replaces the code on APIs whose requests name a model by one string. */
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
