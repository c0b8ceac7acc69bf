/** Prints JSON values as C# expressions in the client's types. */
import type { Declaration, Use } from '../../clients/model.ts'
import { armOf, unlisted } from '../programs.ts'
import { constantsOf } from './enums.ts'
import { isFixed, propertyNames } from './records.ts'
import type { CsharpSurface } from './surface.ts'
import { wrapperName } from './unions.ts'

type Fields = Readonly<Record<string, unknown>>

/** An expression longer than this has a line for each part. */
const lineMax = 90

export class Literals {
  readonly #csharp: CsharpSurface

  constructor(csharp: CsharpSurface) {
    this.#csharp = csharp
  }

  value(use: Use, value: unknown): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return anyValue(value)
      case 'bytes':
        return 'audio'
      case 'constant':
        return JSON.stringify(value)
      case 'scalar': {
        const text = JSON.stringify(value)
        return use.format === 'date-time' ? `DateTimeOffset.Parse(${text})` : text
      }
      case 'list': {
        const items = (value as unknown[]).map((item) => this.value(use.item, item))
        return group(`new ${this.#csharp.typeOf(use.item, true)}[] {`, items, '}')
      }
      case 'map':
        return dictionary(this.#csharp.typeOf(use.value, true), value as Fields, (item) => this.value(use.value, item))
      case 'nullable':
        return value === null ? 'null' : this.value(use.of, value)
      case 'named':
        return this.#named(this.#csharp.directions.declaration(use.name), value)
    }
  }

  #named(declaration: Declaration, value: unknown): string {
    const name = this.#csharp.nameOf(declaration.name)
    if (declaration.kind === 'enum')
      return `${name}.${constantsOf(declaration, name)[declaration.values.indexOf(String(value))]}`
    if (declaration.kind === 'object') return this.#object(name, declaration, value as Fields)
    const { use } = armOf(declaration, value)
    const text = this.value(use, value)
    return use.kind === 'named' ? text : `new ${wrapperName(use, this.#csharp)}(${text})`
  }

  #object(name: string, { fields, rest }: Declaration & { kind: 'object' }, value: Fields): string {
    const names = propertyNames(fields, name)
    const given = fields.flatMap((field, place) =>
      field.name in value && !isFixed(field) ? [`${names[place]}: ${this.value(field.use, value[field.name])}`] : [],
    )
    const made = group(`new ${name}(`, given, ')')
    const more = unlisted(fields, value)
    if (Object.keys(more).length === 0 || rest === null) return made
    return `${made} { Extra = ${dictionary('object?', more, anyValue)} }`
  }
}

/** Prints parts between brackets: on one line if they fit, else one on each line. */
export function group(before: string, parts: readonly string[], after: string): string {
  const space = after === '}' ? ' ' : ''
  const line = `${before}${space}${parts.join(', ')}${space}${after}`
  if (line.length <= lineMax && !line.includes('\n')) return line
  return `${before}\n    ${parts.map((part) => part.replaceAll('\n', '\n    ')).join(',\n    ')}${after === '}' ? '\n' : ''}${after}`
}

function dictionary(type: string, values: Fields, print: (value: unknown) => string): string {
  const pairs = Object.entries(values).map(([name, value]) => `[${JSON.stringify(name)}] = ${print(value)}`)
  return group(`new Dictionary<string, ${type}> {`, pairs, '}')
}

function anyValue(value: unknown): string {
  if (Array.isArray(value)) return group('new object?[] {', value.map(anyValue), '}')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return dictionary('object?', value as Fields, anyValue)
}
