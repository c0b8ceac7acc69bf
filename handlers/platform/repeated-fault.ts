import type { FaultAnswer } from '../../runtime/engine/handler.ts'

/**
 * Headers of a stored 503. Its request may have taken effect, so a repeat always gets this 503. Retry-After is sent
 * because the contract requires it.
 */
const ofUnavailable = { 'Retry-After': '1', 'x-should-retry': 'false' }

/** The first request's error, to answer a repeated request in the same words. */
export class RepeatedFault extends Error {
  readonly answer: FaultAnswer

  constructor(status: number, body: string) {
    super('the answer to a repeated request')
    this.name = 'RepeatedFault'
    const headers = { 'Idempotent-Replayed': 'true', ...(status === 503 && ofUnavailable) }
    this.answer = { status, headers, body }
  }
}
