/** One Go package: the names for its types, and whether a type is sent or received. */
import { Directions } from '../../clients/directions.ts'
import type { Declaration, Surface, Use } from '../../clients/model.ts'
import { exported, PackageNames } from './names.ts'

export class GoPackage {
  readonly surface: Surface
  readonly names = new PackageNames()
  readonly #directions: Directions
  readonly #goNames: ReadonlyMap<string, string>

  constructor(surface: Surface) {
    this.surface = surface
    this.#directions = new Directions(surface)
    this.#goNames = new Map(surface.declarations.map(({ name }) => [name, this.names.take(exported(name), 'Value')]))
  }

  declaration(name: string): Declaration {
    return this.#directions.declaration(name)
  }

  goName(name: string): string {
    const found = this.#goNames.get(name)
    if (found === undefined) throw new Error(`there is no declaration ${name}`)
    return found
  }

  isSent(name: string): boolean {
    return this.#directions.isSent(name)
  }

  isReceived(name: string): boolean {
    return this.#directions.isReceived(name)
  }

  isUnion(use: Use): use is Use & { kind: 'named' } {
    return use.kind === 'named' && this.declaration(use.name).kind === 'union'
  }

  /** True if the Go type is an enum. */
  isEnumName(type: string): boolean {
    return this.surface.declarations.some(({ kind, name }) => kind === 'enum' && this.goName(name) === type)
  }
}
