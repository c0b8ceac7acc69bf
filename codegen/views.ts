/**
 * A component can have three types: for the server's response, for a handler after validation has filled in defaults,
 * and for a client's input. They differ only if a field has a default, readOnly or writeOnly, or refers to such a
 * component.
 */
import type { AsyncApiDocument, Components, OpenApiDocument } from './ir.ts'
import { type Field, innerTypes, type ObjectType, type Type } from './types.ts'

export type View = 'answered' | 'received' | 'sent'

/**
 * If a component has another type in a view, such as the client's input, the type's name ends with the suffix for this
 * view.
 */
export const viewSuffixes: Record<View, string> = { answered: '', received: 'Received', sent: 'Input' }

/** The types that a document needs in each view. */
export type Usage = Record<View, readonly Type[]>

/** Returns an object's fields in one view. */
export function fieldsIn({ fields }: ObjectType, view: View): Field[] {
  return fields.filter((field) => (view === 'answered' ? !field.isWriteOnly : !field.isReadOnly))
}

/** True if the field is always present: it is required, or validation has filled it in. */
export function isPresent({ isRequired, fallback }: Field, view: View): boolean {
  return isRequired || (fallback !== undefined && view === 'received')
}

/** Returns the components' names in a type. */
export function refsIn(type: Type): string[] {
  return type.kind === 'ref' ? [type.name] : innerTypes(type).flatMap(refsIn)
}

export class Views {
  readonly #types: ReadonlyMap<string, Type>
  readonly #used: Record<View, ReadonlySet<string>>

  constructor({ types, shared }: Pick<Components, 'types' | 'shared'>, usage: Usage) {
    this.#types = new Map(types.map(({ name, type }) => [name, type]))
    // A shared component must have the same type names in every document. So it counts as used in each view, even if
    // this document does not use it.
    const used = (view: View) => this.#reached([...usage[view].flatMap(refsIn), ...shared])
    this.#used = { answered: used('answered'), received: used('received'), sent: used('sent') }
  }

  /** Lists the component's views whose types differ. The first view's type has the component's name. */
  distinct(name: string): View[] {
    const distinct: View[] = []
    for (const view of ['answered', 'received', 'sent'] as const) {
      if (this.#used[view].has(name) && !distinct.some((other) => this.#isSame(name, view, other))) distinct.push(view)
    }
    return distinct.length > 0 ? distinct : ['answered']
  }

  /** True if the document needs the component in any view. */
  isUsed(name: string): boolean {
    return Object.values(this.#used).some((names) => names.has(name))
  }

  /** Returns the first view in which the component has the same type as in `view`. */
  canonical(name: string, view: View): View {
    return this.distinct(name).find((other) => this.#isSame(name, view, other)) ?? view
  }

  #isSame(name: string, one: View, other: View): boolean {
    if (one === other) return true
    return [...this.#reached([name])].every((component) => {
      const type = this.#types.get(component)
      return type === undefined || isSameHere(type, one, other)
    })
  }

  /** Returns the names of these components, and of all components to which they refer, directly or indirectly. */
  #reached(names: readonly string[]): Set<string> {
    const reached = new Set<string>()
    const visit = (name: string): void => {
      const type = this.#types.get(name)
      if (reached.has(name) || type === undefined) return
      reached.add(name)
      for (const inner of refsIn(type)) visit(inner)
    }
    for (const name of names) visit(name)
    return reached
  }
}

export function viewsOf(document: OpenApiDocument | AsyncApiDocument): Views {
  return new Views(document, usageOf(document))
}

/** A client never sees a handler's view. Clients have no module for shared components. */
export function clientViewsOf(document: OpenApiDocument | AsyncApiDocument): Views {
  const { answered, sent } = usageOf(document)
  const envelope = document.types.filter(({ name }) => name === 'ErrorEnvelope').map(({ name }) => refTo(name))
  const components = { types: document.types, shared: new Set<string>() }
  return new Views(components, { answered: [...answered, ...envelope], received: [], sent })
}

function usageOf(document: OpenApiDocument | AsyncApiDocument): Usage {
  return document.kind === 'openapi' ? usageOfOperations(document) : usageOfChannels(document)
}

function usageOfOperations({ operations, webhooks }: OpenApiDocument): Usage {
  const bodies = (list: OpenApiDocument['operations']) =>
    list.flatMap(({ body }) => (body?.content ?? []).flatMap(({ value }) => value ?? []))
  const answers = operations.flatMap(({ responses }) => responses.flatMap(({ content }) => content))
  const events = answers.flatMap(({ events, eventData }) => [
    ...Object.values(events),
    ...(eventData ? [eventData] : []),
  ])
  const answersToUs = webhooks.flatMap(({ responses }) => responses.flatMap(({ content }) => content))
  const sent = [
    ...bodies(operations),
    ...operations.flatMap(({ parameters }) => parameters.map(({ type }) => type)),
    ...answersToUs.flatMap(({ value }) => value ?? []),
  ]
  // This server sends the webhooks' bodies, so their types are handled like the types of responses.
  const answered = [...answers.flatMap(({ value }) => value ?? []), ...events.map(refTo), ...bodies(webhooks)]
  return { answered, received: sent, sent }
}

function usageOfChannels({ channels }: AsyncApiDocument): Usage {
  const refs = (direction: 'receives' | 'sends') =>
    channels.flatMap((channel) => channel[direction].flatMap(({ component }) => (component ? [refTo(component)] : [])))
  return { answered: refs('sends'), received: refs('receives'), sent: refs('receives') }
}

export function refTo(name: string): Type {
  return { kind: 'ref', name }
}

function isSameHere(type: Type, one: View, other: View): boolean {
  const shape = (view: View) =>
    type.kind === 'object' ? fieldsIn(type, view).map((field) => `${field.name} ${isPresent(field, view)}`) : []
  return shape(one).join() === shape(other).join() && innerTypes(type).every((inner) => isSameHere(inner, one, other))
}
