/** One API in Java: the names for its types, and the sealed interfaces for each type. */
import { Directions } from '../../clients/directions.ts'
import type { ClientField, Surface, Use } from '../../clients/model.ts'
import { distinct, TypeNames } from '../../clients/scopes.ts'
import { foreign, type NamingStyle, styled, variable } from './names.ts'

export class JavaSurface {
  readonly surface: Surface
  readonly names = new TypeNames(foreign)
  readonly directions: Directions
  readonly style: NamingStyle
  readonly #javaNames: ReadonlyMap<string, string>
  readonly #interfaces = new Map<string, Set<string>>()

  constructor(surface: Surface) {
    this.surface = surface
    this.directions = new Directions(surface)
    this.#javaNames = new Map(surface.declarations.map(({ name }) => [name, this.names.take(name)]))
    this.style = styleOf(surface)
  }

  nameOf(name: string): string {
    const found = this.#javaNames.get(name)
    if (found === undefined) throw new Error(`there is no declaration ${name}`)
    return found
  }

  /** Records that the type implements the interface. */
  implement(type: string, interfaceName: string): void {
    this.#interfaces.set(type, (this.#interfaces.get(type) ?? new Set()).add(interfaceName))
  }

  /** Returns a type's interfaces. */
  interfacesOf(type: string): string[] {
    return [...(this.#interfaces.get(type) ?? [])]
  }

  /** Returns a type. In a response, an enum keeps unknown strings. */
  typeOf(use: Use, isReceived: boolean): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return 'Object'
      case 'bytes':
        return 'BodyPublisher'
      case 'scalar':
        return scalarType(use)
      case 'constant':
        return 'String'
      case 'list':
        return `List<${this.boxedType(use.item, isReceived)}>`
      case 'map':
        return `Map<String, ${this.boxedType(use.value, isReceived)}>`
      case 'nullable':
        return this.boxedType(use.of, isReceived)
      case 'named':
        return isReceived && this.isEnum(use) ? `Open<${this.nameOf(use.name)}>` : this.nameOf(use.name)
    }
  }

  /** Returns the type for a value that can be null: `Long` instead of `long`. */
  boxedType(use: Use, isReceived: boolean): string {
    const type = this.typeOf(use, isReceived)
    return boxes[type] ?? type
  }

  isEnum(use: Use): boolean {
    return use.kind === 'named' && this.directions.declaration(use.name).kind === 'enum'
  }
}

const boxes: Readonly<Record<string, string>> = { long: 'Long', double: 'Double', boolean: 'Boolean' }

function scalarType({ scalar, format }: Use & { kind: 'scalar' }): string {
  if (format === 'date-time') return 'Instant'
  return { string: 'String', integer: 'long', number: 'double', boolean: 'boolean' }[scalar]
}

/** Most fields have this style. The other fields have an annotation with their names. */
function styleOf({ declarations }: Surface): NamingStyle {
  const fields = declarations.flatMap((declaration) => (declaration.kind === 'object' ? declaration.fields : []))
  const exceptions = (style: NamingStyle) => fields.filter(({ name }) => styled(variable(name), style) !== name).length
  return exceptions('snakeCase') < exceptions('camelCase') ? 'snakeCase' : 'camelCase'
}

export const componentNames = (fields: readonly ClientField[]) =>
  distinct(
    fields.map(({ name }) => variable(name)),
    'Alias',
  )
