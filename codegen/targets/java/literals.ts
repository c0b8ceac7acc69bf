/** Prints JSON values as Java expressions in the client's types. */
import type { ClientField, Declaration, Use } from '../../clients/model.ts'
import { armOf, unlisted } from '../programs.ts'
import { constantsOf } from './enums.ts'
import { memberList } from './objects.ts'
import type { JavaSurface } from './surface.ts'
import { wrapperName } from './unions.ts'

type Fields = Readonly<Record<string, unknown>>

/** An expression longer than this has a line for each call. */
const lineMax = 90

export class Literals {
  readonly #java: JavaSurface

  constructor(java: JavaSurface) {
    this.#java = java
  }

  /** `isBoxed`: the value is in a list, a map or a parameter that can be null. There Java needs a `Long`. */
  value(use: Use, value: unknown, isBoxed = false): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return anyValue(value)
      case 'bytes':
        return 'audio'
      case 'constant':
        return JSON.stringify(value)
      case 'scalar':
        return scalar(use, value, isBoxed)
      case 'list':
        return `List.of(${(value as unknown[]).map((item) => this.value(use.item, item, true)).join(', ')})`
      case 'map':
        return mapOf(value as Fields, (item) => this.value(use.value, item, true))
      case 'nullable':
        return value === null ? 'null' : this.value(use.of, value, true)
      case 'named':
        return this.#named(this.#java.directions.declaration(use.name), value)
    }
  }

  /** Prints an object that is made by setters: `new Thing().name("a").size(1)`. */
  made(type: string, fields: readonly ClientField[], value: Fields, isReceived: boolean): string {
    const members = memberList(fields, this.#java, isReceived)
    const calls = fields.flatMap(({ name, use }, place) => {
      const member = members[place]
      if (!(name in value) || !member || member.constant !== null) return []
      const isBoxed = /^[A-Z]/.test(member.parameter)
      return [`.${member.name}(${this.value(use, value[name], isBoxed)})`]
    })
    return chain(`new ${type}()`, calls)
  }

  #named(declaration: Declaration, value: unknown): string {
    const name = this.#java.nameOf(declaration.name)
    if (declaration.kind === 'enum') {
      const constants = constantsOf(declaration)
      return `${name}.${constants[declaration.values.indexOf(String(value))]}`
    }
    if (declaration.kind === 'object') return this.#object(declaration, value as Fields)
    const arm = armOf(declaration, value)
    const text = this.value(arm.use, value, true)
    return arm.use.kind === 'named' ? text : `new ${wrapperName(arm.use, this.#java)}(${text})`
  }

  #object({ name, fields, rest }: Declaration & { kind: 'object' }, value: Fields): string {
    const made = this.made(this.#java.nameOf(name), fields, value, this.#java.directions.isReceived(name))
    const more = unlisted(fields, value)
    if (Object.keys(more).length === 0 || rest === null) return made
    return `${made}.extra(${mapOf(more, (item) => this.value(rest, item, true))})`
  }
}

/** Prints calls on an object: on one line if they fit, else one on each line. */
export function chain(head: string, calls: readonly string[]): string {
  const line = head + calls.join('')
  if (line.length <= lineMax && !line.includes('\n')) return line
  return `${head}${calls.map((call) => `\n    ${call.replaceAll('\n', '\n    ')}`).join('')}`
}

function scalar({ scalar, format }: Use & { kind: 'scalar' }, value: unknown, isBoxed: boolean): string {
  if (format === 'date-time') return `Instant.parse(${JSON.stringify(value)})`
  const text = JSON.stringify(value)
  if (scalar === 'integer') return isBoxed ? `${text}L` : text
  return scalar === 'number' && !/[.e]/.test(text) ? `${text}.0` : text
}

function anyValue(value: unknown): string {
  if (Array.isArray(value)) return `List.of(${value.map(anyValue).join(', ')})`
  return typeof value === 'object' && value !== null ? mapOf(value as Fields, anyValue) : JSON.stringify(value)
}

/** Java's `Map.of` takes at most ten pairs, and no example has more. */
function mapOf(values: Fields, print: (value: unknown) => string): string {
  const pairs = Object.entries(values).map(([name, value]) => `${JSON.stringify(name)}, ${print(value)}`)
  const line = `Map.of(${pairs.join(', ')})`
  if (line.length <= lineMax && !line.includes('\n')) return line
  return `Map.of(\n    ${pairs.map((pair) => pair.replaceAll('\n', '\n    ')).join(',\n    ')})`
}
