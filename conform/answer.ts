/** One answer (an HTTP response) with the operation that declares it. */
import type { Media, Operation, Response } from './contract.ts'
import type { Received, Sent } from './http.ts'
import type { Found } from './results.ts'
import type { Surface } from './surfaces.ts'

export type Answered = {
  surface: Surface
  operation: Operation
  sent: Sent
  received: Received
  /** The ids of all requests so far. */
  requestIds: Set<string>
}
export type AnswerCheck = {
  number: number
  name: string
  /** If true, the faults are warnings unless the run is strict. */
  warns?: boolean
  otherwise: string
  judge: (answered: Answered) => Found
}

/** Names an answer in a message. The path is left out, because it can have ids. */
export const placeOf = ({ sent, received }: Pick<Answered, 'sent' | 'received'>) => `${sent.method} ${received.status}`

/** Returns the declared response. `2XX` and `default` are not used by these documents. */
export function responseOf({ operation, received }: Pick<Answered, 'operation' | 'received'>): Response | null {
  return operation.responses.get(String(received.status)) ?? null
}

export const typeOf = ({ headers }: Received) => (headers['content-type'] ?? '').replace(/;.*/, '').trim()

export function mediaOf(answered: Answered): Media | null {
  const type = typeOf(answered.received)
  return responseOf(answered)?.content.find((media) => media.type === type) ?? null
}

/** Returns the JSON in the answer. Undefined if there is no JSON that can be read. */
export function jsonOf(received: Received): unknown {
  if (typeOf(received) !== 'application/json' || received.body.length === 0) return undefined
  try {
    return JSON.parse(received.body.toString()) as unknown
  } catch {
    return undefined
  }
}

export const faultsIf = (isFault: boolean, message: string) => (isFault ? [message] : [])
