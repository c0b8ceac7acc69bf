/** One module in Rust: the names for an API's types, and the Rust type for a type of the client model (`Use`). */
import { Directions } from '../../clients/directions.ts'
import type { ClientField, Surface, Use } from '../../clients/model.ts'
import { TypeNames } from '../../clients/scopes.ts'
import { foreign } from './names.ts'

export class RustModule {
  readonly surface: Surface
  readonly names = new TypeNames(foreign)
  readonly directions: Directions
  readonly #rustNames: ReadonlyMap<string, string>

  constructor(surface: Surface) {
    this.surface = surface
    this.directions = new Directions(surface)
    this.#rustNames = new Map(surface.declarations.map(({ name }) => [name, this.names.take(name)]))
  }

  nameOf(name: string): string {
    const found = this.#rustNames.get(name)
    if (found === undefined) throw new Error(`there is no declaration ${name}`)
    return found
  }

  typeOf(use: Use): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return 'Value'
      case 'bytes':
        return 'Audio'
      case 'scalar':
        return scalarType(use)
      case 'constant':
        return 'String'
      case 'list':
        return `Vec<${this.typeOf(use.item)}>`
      case 'map':
        return use.value.kind === 'any' ? 'Map<String, Value>' : `BTreeMap<String, ${this.typeOf(use.value)}>`
      case 'nullable':
        return `Option<${this.typeOf(use.of)}>`
      case 'named':
        return this.nameOf(use.name)
    }
  }

  /** An optional field of a request can be absent, and some can also be null. */
  fieldType({ use, isRequired }: ClientField, isSent: boolean): string {
    if (isRequired) return this.typeOf(use)
    const inner = this.typeOf(use.kind === 'nullable' ? use.of : use)
    return use.kind === 'nullable' && isSent ? `Nullable<${inner}>` : `Option<${inner}>`
  }

  /** True if the Rust type is a union. */
  isUnionName(type: string): boolean {
    return this.surface.declarations.some(({ kind, name }) => kind === 'union' && this.nameOf(name) === type)
  }
}

function scalarType({ scalar, format }: Use & { kind: 'scalar' }): string {
  if (format === 'date-time') return 'DateTime<Utc>'
  return { string: 'String', integer: 'i64', number: 'f64', boolean: 'bool' }[scalar]
}
