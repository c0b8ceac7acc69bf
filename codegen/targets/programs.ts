/** The pieces that the snippets of all languages share: the loop over a document, and the search for a union's type. */
import type { ClientChannel, ClientField, ClientOperation, Surface, UnionDeclaration, Use } from '../clients/model.ts'
import type { Channel, Contract } from '../pages/contract.ts'
import { type Sample, type SampleBody, sampleOf } from '../pages/sample.ts'

/** A document's client model, and the document as its pages show it. */
export type Documented = { surface: Surface; contract: Contract }

/** Writes one program with the client in a language. */
export type Programs = {
  request(operation: ClientOperation, sample: Sample): string
  socket(model: ClientChannel, sent: Sent | null): string
}

/** The client's first text frame in the channel's examples. */
export type Sent = { use: Use; value: unknown }

/** Returns the programs by operation and channel. */
export function programsOf({ surface, contract }: Documented, programs: Programs): Record<string, string> {
  const requests = contract.operations.map((operation) => {
    const found = surface.operations.find(({ id }) => id === operation.id)
    if (!found) throw new Error(`the model has no operation ${operation.id}`)
    return [operation.id, programs.request(found, sampleOf(contract, operation))] as const
  })
  const sockets = contract.channels.map((channel) => {
    const model = surface.channels.find(({ id }) => id === channel.id)
    if (!model) throw new Error(`the model has no channel ${channel.id}`)
    return [channel.id, programs.socket(model, sentOf(channel, model))] as const
  })
  return Object.fromEntries([...requests, ...sockets])
}

function sentOf({ received }: Channel, { sends }: ClientChannel): Sent | null {
  const first = received.find(({ isBinary, examples }) => !isBinary && examples.length > 0)
  const use = sends.find(({ type }) => type === first?.name)?.use
  return use ? { use, value: first?.examples[0]?.value } : null
}

/**
 * True if the calling code passes the socket's query. If the query can have only a single value, the clients for Go and
 * Rust send the value themselves.
 */
export const hasOwnQuery = ({ query }: ClientChannel): boolean =>
  query.length > 0 && (query.length > 1 || query[0]?.values.length !== 1)

/** Returns the values of a multipart form's parts by their names. */
export const partValues = ({ parts }: SampleBody & { kind: 'multipart' }): Record<string, unknown> =>
  Object.fromEntries(parts.map(({ name, value }) => [name, value]))

/** Returns an object's additional fields. */
export const unlisted = (fields: readonly ClientField[], value: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !fields.some(({ name }) => name === key)))

/** Returns the union's type that takes the example. Throws if no type does. */
export function armOf({ name, tag, arms }: UnionDeclaration, value: unknown): UnionDeclaration['arms'][number] {
  const found = arms.find(({ tagValues, json }) =>
    tag === null ? json === jsonKindOf(value) : tagValues.includes(String((value as Record<string, unknown>)[tag])),
  )
  if (!found) throw new Error(`no type of ${name} takes the example ${JSON.stringify(value)}`)
  return found
}

export const jsonKindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)
