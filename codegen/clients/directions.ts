/** Finds the types in a client's requests, and the types in the server's responses. A type can be in both. */
import type { ClientMethod, Declaration, Surface, Use } from './model.ts'

export class Directions {
  readonly #byName: ReadonlyMap<string, Declaration>
  readonly #sent: ReadonlySet<string>
  readonly #received: ReadonlySet<string>

  constructor(surface: Surface) {
    this.#byName = new Map(surface.declarations.map((declaration) => [declaration.name, declaration]))
    this.#sent = this.#reachable(sentUses(surface))
    this.#received = this.#reachable(receivedUses(surface))
  }

  declaration(name: string): Declaration {
    const found = this.#byName.get(name)
    if (!found) throw new Error(`there is no declaration ${name}`)
    return found
  }

  isSent(name: string): boolean {
    return this.#sent.has(name)
  }

  isReceived(name: string): boolean {
    return this.#received.has(name)
  }

  #reachable(uses: readonly Use[]): Set<string> {
    const found = new Set<string>()
    const visit = (use: Use): void => {
      if (use.kind === 'list') visit(use.item)
      if (use.kind === 'map') visit(use.value)
      if (use.kind === 'nullable') visit(use.of)
      if (use.kind !== 'named' || found.has(use.name)) return
      found.add(use.name)
      usesIn(this.declaration(use.name)).forEach(visit)
    }
    uses.forEach(visit)
    return found
  }
}

function usesIn(declaration: Declaration): Use[] {
  if (declaration.kind === 'union') return declaration.arms.map(({ use }) => use)
  if (declaration.kind === 'enum') return []
  return [...declaration.fields.map(({ use }) => use), ...(declaration.rest ? [declaration.rest] : [])]
}

function sentUses({ operations, channels }: Surface): Use[] {
  const bodies = operations.flatMap(({ body, parameters }) => [
    ...parameters.map(({ use }) => use),
    ...(body?.kind === 'json' ? [body.use] : []),
    ...(body?.kind === 'multipart' ? body.parts.map(({ use }) => use) : []),
  ])
  return [...bodies, ...channels.flatMap(({ sends }) => sends.flatMap(({ use }) => use ?? []))]
}

function receivedUses({ operations, channels, webhooks }: Surface): Use[] {
  const answers = operations.flatMap(({ methods }) => methods.flatMap(answerUses))
  const frames = channels.flatMap(({ receives }) => receives.flatMap(({ use }) => use ?? []))
  return [...answers, ...frames, ...webhooks.map(({ body }) => body)]
}

function answerUses({ answer }: ClientMethod): Use[] {
  if (answer.kind === 'json' || answer.kind === 'data') return [answer.use]
  return answer.kind === 'events' ? answer.events.map(({ use }) => use) : []
}
