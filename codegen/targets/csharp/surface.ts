/** One API in C#: the names for its types, and each type's interfaces. */
import { Directions } from '../../clients/directions.ts'
import type { Surface, Use } from '../../clients/model.ts'
import { TypeNames } from '../../clients/scopes.ts'
import { foreign, type NamingStyle } from './names.ts'

export class CsharpSurface {
  readonly surface: Surface
  readonly names = new TypeNames(foreign)
  readonly directions: Directions
  readonly style: NamingStyle
  readonly #csharpNames: ReadonlyMap<string, string>
  readonly #interfaces = new Map<string, Set<string>>()

  constructor(surface: Surface) {
    this.surface = surface
    this.directions = new Directions(surface)
    this.#csharpNames = new Map(
      surface.declarations.map(({ kind, name }) => [name, this.names.take(kind === 'union' ? `I ${name}` : name)]),
    )
    this.style = styleOf(surface)
  }

  nameOf(name: string): string {
    const found = this.#csharpNames.get(name)
    if (found === undefined) throw new Error(`there is no declaration ${name}`)
    return found
  }

  /** Records that the type implements the interface. */
  implement(type: string, interfaceName: string): void {
    this.#interfaces.set(type, (this.#interfaces.get(type) ?? new Set()).add(interfaceName))
  }

  /** Returns a type's base types, printed after a colon. */
  basesOf(type: string, first: readonly string[] = []): string {
    const all = [...first, ...(this.#interfaces.get(type) ?? [])]
    return all.length > 0 ? ` : ${all.join(', ')}` : ''
  }

  /** Returns a type. Any JSON is an object in a request, and a JsonElement in an answer. */
  typeOf(use: Use, isSent: boolean): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return isSent ? 'object?' : 'JsonElement'
      case 'bytes':
        return 'Upload'
      case 'scalar':
        return scalarType(use)
      case 'constant':
        return 'string'
      case 'list':
        return `IReadOnlyList<${this.typeOf(use.item, isSent)}>`
      case 'map':
        return `IReadOnlyDictionary<string, ${this.typeOf(use.value, isSent)}>`
      case 'nullable':
        return orNull(this.typeOf(use.of, isSent))
      case 'named':
        return this.nameOf(use.name)
    }
  }
}

export const orNull = (type: string) => (type.endsWith('?') ? type : `${type}?`)

function scalarType({ scalar, format }: Use & { kind: 'scalar' }): string {
  if (format === 'date-time') return 'DateTimeOffset'
  return { string: 'string', integer: 'long', number: 'double', boolean: 'bool' }[scalar]
}

function styleOf({ declarations }: Surface): NamingStyle {
  const names = declarations.flatMap((declaration) =>
    declaration.kind === 'object' ? declaration.fields.map(({ name }) => name) : [],
  )
  const snake = names.filter((name) => name.includes('_')).length
  return snake > names.filter((name) => /[a-z][A-Z]/.test(name)).length ? 'snakeCase' : 'camelCase'
}
