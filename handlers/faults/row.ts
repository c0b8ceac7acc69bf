/** The rows of the tables of faults, and the places of a surface that they name. */
import type { Capability } from '../../domain/ports/model.ts'
import type { ErrorCode } from '../../generated/router/errors.ts'

/** The places in which the requests of a surface name things; null where a surface has no such place. */
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
  /** Whether requests name a model by one string; else they have a routing object. */
  readonly namesModel: boolean
  /** The places of what a request asks of a model. An ask without an entry has several places, or none. */
  asks: Readonly<Partial<Record<Capability | 'language' | 'voice' | 'recording' | 'speech', string>>>
}

/** Values that a hint needs and the fault does not have. */
export type Saying = {
  retryAfterS: number
  /** ' with a new Idempotency-Key', or '' on a surface without such keys. */
  withNewKey: string
}

/** A row without a message or a hint shows that of its code. */
export type Row<Data> = {
  code: ErrorCode
  /** The code on a surface whose requests name a model by one string, if it is another one there. */
  codeByName?: ErrorCode
  /** True where no repeated request can succeed although its status is one that clients repeat, or may. */
  isFinal?: true
  message?: string | ((data: Data) => string)
  hint?: string | ((data: Data, saying: Saying) => string)
  param?: (places: Places, data: Data) => string | null
}
