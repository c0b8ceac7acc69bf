/**
 * Makes operations repeatable with an `Idempotency-Key`. A repeated request gets the first response and does nothing:
 *
 *   idempotency key ──► dispatched ──► sent to the carrier ──► answer stored, or lost
 *                            └── refused before sending ──► released
 *
 * The idempotency key counts as dispatched from the beginning. So if a process dies, its request is never run again. If
 * the response is lost, a repeat gets 503 with `x-should-retry: false`: the client must check what the request has
 * done.
 */
import { hash } from 'node:crypto'
import type { Idempotency, KeyUse } from '../../domain/idempotency/idempotency.ts'
import { inProgress, requireAdmitted } from '../../domain/idempotency/require-admitted.ts'
import type { StoredAnswers } from '../../domain/idempotency/stored-answers.ts'
import type { Log } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { ResourceFault, type ResourceFaultData } from '../../domain/records/resource-fault.ts'
import { type Context, Refusal } from '../../runtime/engine/handler.ts'
import { createPlatformFaultWriter } from './faults.ts'
import { RepeatedFault } from './repeated-fault.ts'

export type RepeatableDeps = {
  idempotency: Pick<Idempotency, 'admit' | 'release'>
  answers: StoredAnswers
  log: Log
}

type RepeatableInput = { path: object; header: { 'idempotency-key'?: string } }
type Answered = { status: number; headers?: { 'Idempotent-Replayed'?: 'true' }; body: object }
type Run<A, B> = (input: A, context: Context<Caller>) => B | Promise<B>

export type Repeatable = <A extends RepeatableInput, B extends Answered>(run: Run<A, B>) => Run<A, B>

/**
 * Fails the request, because it is unknown whether its work succeeded. A repeated request gets `answer` as its
 * response.
 */
export class UnknownEnd extends Error {
  readonly answer: Answered
  readonly fault: ResourceFault

  constructor(answer: Answered, fault: ResourceFault) {
    super('the end of the request is not known')
    this.name = 'UnknownEnd'
    this.answer = answer
    this.fault = fault
  }
}

/** The wait for a repeat that comes while the first request runs. */
const retryAfterS = 1

export function createRepeatable(deps: RepeatableDeps): Repeatable {
  const { idempotency, answers } = deps
  return <A extends RepeatableInput, B extends Answered>(run: Run<A, B>): Run<A, B> =>
    async (input, context) => {
      const key = input.header['idempotency-key']
      if (key === undefined) return Promise.resolve(run(input, context)).catch(rejectAsFault)
      const use = useOf(key, input.path, context)
      const admission = await idempotency.admit(use, 'dispatched')
      if (admission.outcome === 'already_started')
        return answerAgain<B>(await answers.find(use), admission.originalRequestId)
      requireAdmitted(admission)
      const end = answers.begin(use)
      try {
        const answer = await run(input, context)
        await keep(deps, use, answer.status, JSON.stringify(answer.body))
        return answer
      } catch (error) {
        if (error instanceof UnknownEnd) await keep(deps, use, error.answer.status, JSON.stringify(error.answer.body))
        else if (isRefusal(error)) await idempotency.release(use)
        else await keepFault(deps, use, error)
        return rejectAsFault(error)
      } finally {
        end()
      }
    }
}

/**
 * Describes one use of an idempotency key. A live API key and a test API key can use the same idempotency key
 * independently.
 */
function useOf(key: string, path: object, { caller, operation, contentHash, requestId }: Context<Caller>): KeyUse {
  return {
    organizationId: caller.organization.id,
    operation: caller.test ? `${operation} test` : operation,
    keyDigest: hash('sha256', key),
    contentHash: hash('sha256', `${JSON.stringify(path)} ${contentHash ?? ''}`),
    requestId,
  }
}

/** Answers a repeated request with the stored response. The cast is safe, because the same operation made the body. */
function answerAgain<B extends Answered>(
  stored: Awaited<ReturnType<StoredAnswers['find']>>,
  originalRequestId: string,
): B {
  if (stored === 'running') throw inProgress(retryAfterS)
  if (stored === 'lost') throw new Fault({ kind: 'key_already_started', originalRequestId }, { isKeySpent: true })
  const { status, body } = stored
  if (status >= 400) throw new RepeatedFault(status, body)
  return { status, headers: { 'Idempotent-Replayed': 'true' }, body: JSON.parse(body) as object } as B
}

/**
 * Returns true if the request failed before the carrier received anything. Returns false for an unexpected error,
 * because the carrier may have received the request.
 */
function isRefusal(error: unknown): boolean {
  if (error instanceof ResourceFault) return !hasReachedCarrier(error.data)
  if (error instanceof Fault) return !error.detail.isKeySpent
  return error instanceof Refusal
}

function hasReachedCarrier(data: ResourceFaultData): boolean {
  if (data.kind === 'sms_carrier_failed' || ('isOrdered' in data && data.isOrdered)) return true
  return data.kind === 'message_not_sent' || (data.kind === 'not_dialed' && data.sessionId !== undefined)
}

function rejectAsFault(error: unknown): never {
  throw error instanceof UnknownEnd ? error.fault : error
}

const silent: Log = { info() {}, warn() {}, error() {} }
/**
 * Writes the error body to store for repeated requests. It counts and logs nothing, because the HTTP engine does both
 * for the current response.
 */
const write = createPlatformFaultWriter(silent, () => {})

function keepFault(deps: RepeatableDeps, use: KeyUse, error: unknown): Promise<void> {
  const { status, body } = write(error, use.requestId)
  return keep(deps, use, status, body)
}

/**
 * Stores a response. Never rejects, because the request has done its work. If storing fails, a repeated request gets
 * the error for a request that is still running, and later the error for a lost response.
 */
async function keep({ answers, log }: RepeatableDeps, use: KeyUse, status: number, body: string): Promise<void> {
  try {
    await answers.keep(use, { status, body })
  } catch (err) {
    log.error({ err, requestId: use.requestId }, 'the answer to a request with a key was not kept')
  }
}
