/** Prints types where they are used. A client may send any sequence and any mapping; it receives lists and dicts. */
import type { Declaration, Surface, Use } from '../../clients/model.ts'
import { literal } from './print.ts'

/**
 * `both`: the declaration is in requests and in responses. It is printed as in requests, but without the alternatives
 * for senders, which would make a response harder to read.
 */
type Direction = 'sent' | 'answered' | 'both'

const scalars = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' } as const

export class Uses {
  readonly #byName: ReadonlyMap<string, Declaration>
  readonly #sent: ReadonlySet<string>
  readonly #answered: ReadonlySet<string>

  constructor(surface: Surface) {
    this.#byName = new Map(surface.declarations.map((declaration) => [declaration.name, declaration]))
    this.#sent = this.#reachable(sentUses(surface))
    this.#answered = this.#reachable(answeredUses(surface))
  }

  direction(name: string): Direction {
    if (!this.#sent.has(name)) return 'answered'
    return this.#answered.has(name) ? 'both' : 'sent'
  }

  /** Prints a type. Each declaration's name gets the prefix. */
  print(use: Use, direction: Direction, prefix = ''): string {
    const isAnswered = direction === 'answered'
    switch (use.kind) {
      case 'any':
        return isAnswered ? 'Any' : 'object'
      case 'null':
        return 'None'
      case 'scalar':
        return use.values === null ? scalars[use.scalar] : `Literal[${use.values.map(literal).join(', ')}]`
      case 'constant':
        return `Literal[${literal(use.value)}]`
      case 'bytes':
        return 'bytes'
      case 'list':
        return `${isAnswered ? 'list' : 'Sequence'}[${this.print(use.item, direction, prefix)}]`
      case 'map':
        return `${isAnswered ? 'dict' : 'Mapping'}[str, ${this.print(use.value, direction, prefix)}]`
      case 'nullable':
        return `${this.print(use.of, direction, prefix)} | None`
      case 'named':
        return prefix + use.name + (direction === 'sent' && this.#isOpen(use.name) ? ' | Mapping[str, object]' : '')
    }
  }

  /**
   * A TypedDict allows only the fields that it names, so an object with additional fields can be sent as any mapping.
   */
  #isOpen(name: string): boolean {
    const declaration = this.#byName.get(name)
    return declaration?.kind === 'object' && declaration.rest !== null
  }

  #reachable(roots: readonly Use[]): ReadonlySet<string> {
    const found = new Set<string>()
    const visit = (use: Use): void => {
      for (const name of namesIn(use)) {
        if (found.has(name)) continue
        found.add(name)
        const declaration = this.#byName.get(name)
        if (declaration) usesIn(declaration).forEach(visit)
      }
    }
    roots.forEach(visit)
    return found
  }
}

/** Returns the names of the declarations in a type. */
export function namesIn(use: Use): string[] {
  if (use.kind === 'named') return [use.name]
  if (use.kind === 'list') return namesIn(use.item)
  if (use.kind === 'map') return namesIn(use.value)
  return use.kind === 'nullable' ? namesIn(use.of) : []
}

function usesIn(declaration: Declaration): Use[] {
  if (declaration.kind === 'object') return declaration.fields.map(({ use }) => use)
  return declaration.kind === 'union' ? declaration.arms.map(({ use }) => use) : []
}

function sentUses({ operations, channels }: Surface): Use[] {
  const bodies = operations.flatMap(({ body }) => {
    if (body?.kind === 'json') return [body.use]
    return body?.kind === 'multipart' ? body.parts.map(({ use }) => use) : []
  })
  const parameters = operations.flatMap((operation) => operation.parameters.map(({ use }) => use))
  return [...bodies, ...parameters, ...channels.flatMap(({ sends }) => sends.flatMap(({ use }) => use ?? []))]
}

function answeredUses({ operations, channels, webhooks }: Surface): Use[] {
  const answers = operations.flatMap(({ methods }) =>
    methods.flatMap(({ answer }) => {
      if (answer.kind === 'events') return answer.events.map(({ use }) => use)
      return answer.kind === 'json' || answer.kind === 'data' ? [answer.use] : []
    }),
  )
  const frames = channels.flatMap(({ receives }) => receives.flatMap(({ use }) => use ?? []))
  return [...answers, ...frames, ...webhooks.map(({ body }) => body)]
}
