/** The pieces that the snippets of all languages share: the loop over a document, and the search for a union's type. */
import type { ClientOperation, Surface, UnionDeclaration } from '../clients/model.ts'
import type { Channel, Contract } from '../pages/contract.ts'
import { type Sample, sampleOf } from '../pages/sample.ts'

/** A document's client model, and the document as its pages show it. */
export type Documented = { surface: Surface; contract: Contract }

/** Writes one program with the client in a language. */
export type Programs = {
  request(operation: ClientOperation, sample: Sample): string
  socket(channel: Channel): string
}

/** Returns the programs by operation and channel. */
export function programsOf({ surface, contract }: Documented, programs: Programs): Record<string, string> {
  const requests = contract.operations.map((operation) => {
    const found = surface.operations.find(({ id }) => id === operation.id)
    if (!found) throw new Error(`the model has no operation ${operation.id}`)
    return [operation.id, programs.request(found, sampleOf(contract, operation))] as const
  })
  const sockets = contract.channels.map((channel) => [channel.id, programs.socket(channel)] as const)
  return Object.fromEntries([...requests, ...sockets])
}

/** Returns the union's type that takes the example. Throws if no type does. */
export function armOf({ name, tag, arms }: UnionDeclaration, value: unknown): UnionDeclaration['arms'][number] {
  const found = arms.find(({ tagValues, json }) =>
    tag === null ? json === jsonKindOf(value) : tagValues.includes(String((value as Record<string, unknown>)[tag])),
  )
  if (!found) throw new Error(`no type of ${name} takes the example ${JSON.stringify(value)}`)
  return found
}

export const jsonKindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value)
