/** How the emitted handlers and clients write a schema as a type, and which names they must import for it. */
import { hasDirections } from './emit-types.ts'
import type { OpenApiDocument, Parameter, Schema } from './ir.ts'
import { printImport, printKey, printType, quote } from './print.ts'
import { refName, resolveSchema } from './schema.ts'

/** What we are given is Writable, what we answer Readable. Both exist only in documents that say readOnly or writeOnly. */
export type Projection = 'Readable' | 'Writable'

export class TypeNames {
  readonly #used = new Set<string>()
  readonly #schemas: Record<string, Schema>
  readonly #hasDirections: boolean

  constructor(document: OpenApiDocument) {
    this.#schemas = document.schemas
    this.#hasDirections = hasDirections(document)
  }

  use(name: string): string {
    this.#used.add(name)
    return name
  }

  /** The import of everything that was used so far; empty when nothing was. */
  importFrom(module: string): string {
    return printImport([...this.#used].sort(), module)
  }

  /** By the component's name where it has one, else by `place`, its path in openapi-typescript's operations. */
  schema(schema: Schema, projection: Projection, place: string): string {
    const isNamed = typeof schema === 'object' && schema.$ref !== undefined
    const type = isNamed ? this.use(refName(schema.$ref as string)) : place
    if (!isNamed) this.use('operations')
    return this.#hasDirections ? `${this.use(projection)}<${type}>` : type
  }

  /** The type of a parameter or header: scalars, closed sets and lists of them. */
  scalar(schema: Schema): string {
    if (typeof schema === 'boolean') return 'string'
    if (schema.$ref !== undefined) return this.use(refName(schema.$ref))
    const values = schema.enum ?? ('const' in schema ? [schema.const] : null)
    if (values) return values.map((value) => (typeof value === 'string' ? quote(value) : String(value))).join(' | ')
    if (schema.type === 'array') return `(${this.scalar(schema.items ?? true)})[]`
    if (schema.type === 'integer' || schema.type === 'number') return 'number'
    return schema.type === 'boolean' ? 'boolean' : 'string'
  }

  /** The parameters of one place as an object type. With `defaulted`, those that have a default are there. */
  parameters(parameters: readonly Parameter[], defaulted: boolean): string {
    if (parameters.length === 0) return 'Record<string, never>'
    const members = parameters.map(({ in: where, name, required, schema, content }) => {
      const isThere = required || (defaulted && this.hasDefault(schema))
      // The rules have seen to it that JSON has a name.
      const type = content === null ? this.scalar(schema) : this.schema(schema, 'Writable', '')
      return `${printKey(where === 'header' ? name.toLowerCase() : name)}${isThere ? '' : '?'}: ${type}`
    })
    return printType(members, '  ')
  }

  hasDefault(schema: Schema): boolean {
    const target = resolveSchema(this.#schemas, schema)
    return [schema, target].some((side) => typeof side === 'object' && side.default !== undefined)
  }
}
