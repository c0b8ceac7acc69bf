import { Fault, type FaultKind } from '../../domain/records/fault.ts'

/** A fault and the part of the request that it is about, for an operation that has this part in another place than its surface. */
export class LocatedFault extends Error {
  readonly fault: Fault
  /** A JSON pointer, a header or the name of a query parameter. */
  readonly param: string

  constructor(fault: Fault, param: string) {
    super(fault.message, { cause: fault })
    this.name = 'LocatedFault'
    this.fault = fault
    this.param = param
  }
}

/** The error to throw on: a fault of this kind with its place, any other error as it is. */
export function located(error: unknown, kind: FaultKind, param: string): unknown {
  return error instanceof Fault && error.kind === kind ? new LocatedFault(error, param) : error
}
