/**
 * Operations that take an optional `Idempotency-Key`: a repeated request is answered as the first one was, and does nothing.
 *
 *   key ──► dispatched ──► asked the carrier ──► answer kept
 *                └── refused before ──► released
 *
 * The key counts as dispatched from the beginning, so that a request whose process dies is never run a second time.
 */
import { hash } from 'node:crypto'
import type { Idempotency, KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { KeptAnswers } from '../../domain/idempotency/kept-answers.ts'
import { inProgress, requireAdmitted } from '../../domain/idempotency/require-admitted.ts'
import type { Log } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { ResourceFault, type ResourceFaultData } from '../../domain/records/resource-fault.ts'
import { type Context, Refusal } from '../../runtime/engine/handler.ts'
import { createPlatformFaultWriter } from './faults.ts'
import { RepeatedFault } from './repeated-fault.ts'

export type RepeatableDeps = {
  idempotency: Pick<Idempotency, 'admit' | 'release'>
  answers: KeptAnswers
  log: Log
}

type Asked = { path: object; header: { 'idempotency-key'?: string } }
type Answered = { status: number; headers?: { 'Idempotent-Replayed'?: 'true' }; body: object }
type Run<A, B> = (input: A, context: Context<Caller>) => B | Promise<B>

export type Repeatable = <A extends Asked, B extends Answered>(run: Run<A, B>) => Run<A, B>

/** The request fails, and a repeat is answered otherwise: as what was done and whose end nobody knows. */
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

/** A repeat that comes while the first request runs may come again after this. */
const retryAfterS = 1

export function createRepeatable(deps: RepeatableDeps): Repeatable {
  const { idempotency, answers } = deps
  return <A extends Asked, B extends Answered>(run: Run<A, B>): Run<A, B> =>
    async (input, context) => {
      const key = input.header['idempotency-key']
      if (key === undefined) return Promise.resolve(run(input, context)).catch(rejectAsFault)
      const use = useOf(key, input.path, context)
      const admission = await idempotency.admit(use, 'dispatched')
      if (admission.outcome === 'already_started') return answerAgain<B>(await answers.find(use))
      requireAdmitted(admission)
      try {
        const answer = await run(input, context)
        await keep(deps, use, answer.status, JSON.stringify(answer.body))
        return answer
      } catch (error) {
        if (error instanceof UnknownEnd) await keep(deps, use, error.answer.status, JSON.stringify(error.answer.body))
        else if (isRefusal(error)) await idempotency.release(use)
        else await keepFault(deps, use, error)
        return rejectAsFault(error)
      }
    }
}

/** A key of the live world says nothing about one of the test world. */
function useOf(key: string, path: object, { caller, operation, contentHash, requestId }: Context<Caller>): KeyUse {
  return {
    organizationId: caller.organization.id,
    operation: caller.test ? `${operation} test` : operation,
    keyDigest: hash('sha256', key),
    contentHash: hash('sha256', `${JSON.stringify(path)} ${contentHash ?? ''}`),
    requestId,
  }
}

/** The type of the body is that of the operation, which has made it. */
function answerAgain<B extends Answered>(kept: Awaited<ReturnType<KeptAnswers['find']>>): B {
  if (kept === null) throw inProgress(retryAfterS)
  const { status, body } = kept
  if (status >= 400) throw new RepeatedFault(status, body)
  return { status, headers: { 'Idempotent-Replayed': 'true' }, body: JSON.parse(body) as object } as B
}

/** Whether the request ended before the carrier was asked. After a defect nobody knows. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ResourceFault) return !hasAsked(error.data)
  if (error instanceof Fault) return !error.detail.isKeySpent
  return error instanceof Refusal
}

function hasAsked(data: ResourceFaultData): boolean {
  if (data.kind === 'sms_carrier_failed' || ('isOrdered' in data && data.isOrdered)) return true
  return data.kind === 'message_not_sent' || (data.kind === 'not_dialed' && data.sessionId !== undefined)
}

function rejectAsFault(error: unknown): never {
  throw error instanceof UnknownEnd ? error.fault : error
}

const silent: Log = { info() {}, warn() {}, error() {} }
/** The engine writes, counts and logs the error that is answered now. */
const write = createPlatformFaultWriter(silent, () => {})

function keepFault(deps: RepeatableDeps, use: KeyUse, error: unknown): Promise<void> {
  const { status, body } = write(error, use.requestId)
  return keep(deps, use, status, body)
}

/** Never rejects: the request has done its work. Without a kept answer a repeat is answered as one that comes too soon. */
async function keep({ answers, log }: RepeatableDeps, use: KeyUse, status: number, body: string): Promise<void> {
  try {
    await answers.keep(use, { status, body })
  } catch (err) {
    log.error({ err, requestId: use.requestId }, 'the answer to a request with a key was not kept')
  }
}
