/** The input for an operation's checks, and the requests that several checks send. */
import { faultsIf } from './answer.ts'
import { type Conformance, spendReason } from './conformance.ts'
import type { Operation } from './contract.ts'
import { envelopeOf } from './envelope.ts'
import type { Fixtures } from './fixtures.ts'
import type { Received, Sent } from './http.ts'
import { firstExample, requestOf, type Wanted } from './requests.ts'
import { type Found, type Inapplicable, inapplicable } from './results.ts'

export type Probe = { run: Conformance; fixtures: Fixtures; operation: Operation }
export type OperationCheck = {
  number: number
  name: string
  otherwise: string
  probe: (probe: Probe) => Promise<Found>
}

/** Makes an acceptable request from one of the operation's examples. */
export async function acceptable(
  { run, fixtures, operation }: Probe,
  value: unknown = firstExample(operation),
): Promise<Wanted | Inapplicable> {
  const key = run.keyFor(operation)
  if (key === null) return inapplicable(spendReason)
  const ids = await fixtures.ids(operation)
  if (isReason(ids)) return ids
  const audio = await audioFor(fixtures, operation)
  return {
    operation,
    key,
    ids,
    value: await fixtures.adapt(operation, value),
    ...(audio !== null && { audio }),
    ...leaving(operation),
  }
}

/** These streams go on for ten minutes, so the client leaves after its first event. */
const leaving = ({ id }: Operation): Pick<Wanted, 'leaves'> =>
  id === 'streamWebhookEvents' || id === 'streamCalls' ? { leaves: (text) => text.includes('\n\n') } : {}

export const isReason = (value: object): value is Inapplicable => 'reason' in value

async function audioFor(fixtures: Fixtures, { body }: Operation): Promise<Buffer | null> {
  const type = body?.media.type ?? 'application/json'
  return type === 'application/json' ? null : fixtures.recording()
}

/** Makes a request with the ids from the examples. No resource here has them, so the request changes nothing. */
export const refusable = ({ run, operation }: Probe, more: Partial<Wanted> = {}): Wanted => ({
  operation,
  key: run.keys.key,
  value: firstExample(operation),
  ...more,
})

/** Sends a request, and records the resource that it created, for removal at the end. */
export async function ask({ run, fixtures, operation }: Probe, wanted: Wanted): Promise<Received> {
  return sendTo({ run, fixtures, operation }, requestOf(wanted))
}

export async function sendTo({ run, fixtures, operation }: Probe, sent: Sent): Promise<Received> {
  const received = await run.send(operation, sent)
  fixtures.remember(operation, received)
  return received
}

/** Returns a fault if the answer has another status than `status`. `what` names the request. */
export function expectStatus(received: Received, status: number, what: string): string[] {
  return faultsIf(received.status !== status, `${what} is answered ${said(received)}, not ${status}`)
}

/** Returns the status with its code, for a message. */
export function said(received: Received): string {
  const code = received.status < 400 ? null : envelopeOf(received)?.code
  return code ? `${received.status} ${code}` : String(received.status)
}

export const isSuccess = ({ status }: Received) => status >= 200 && status < 300
