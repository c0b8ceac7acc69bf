import { Fault, type FaultKind } from '../../domain/records/fault.ts'

/**
 * A fault with its location in the request. Operations use it if a field is in an unusual location, such as a header.
 */
export class LocatedFault extends Error {
  readonly fault: Fault
  /** A JSON pointer, a header or a query parameter. */
  readonly param: string

  constructor(fault: Fault, param: string) {
    super(fault.message, { cause: fault })
    this.name = 'LocatedFault'
    this.fault = fault
    this.param = param
  }
}

/** Returns the error to throw: a fault of this kind together with `param`, and any other error unchanged. */
export function located(error: unknown, kind: FaultKind, param: string): unknown {
  return error instanceof Fault && error.kind === kind ? new LocatedFault(error, param) : error
}
