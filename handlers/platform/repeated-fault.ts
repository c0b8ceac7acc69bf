import type { FaultAnswer } from '../../runtime/engine/handler.ts'

/** Only a request that may have acted is 503 again. No wait makes it succeed, but the contract wants the header. */
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
