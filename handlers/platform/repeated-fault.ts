import type { FaultAnswer } from '../../runtime/engine/handler.ts'

/** The first request's error, to answer a repeated request in the same words. */
export class RepeatedFault extends Error {
  readonly answer: FaultAnswer

  constructor(status: number, body: string) {
    super('the answer to a repeated request')
    this.name = 'RepeatedFault'
    this.answer = { status, headers: { 'Idempotent-Replayed': 'true' }, body }
  }
}
