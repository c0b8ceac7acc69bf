/** Prints resolved types as TypeScript and records the named components, so that a module imports exactly these. */
import type { Parameter } from '../../ir.ts'
import type { Literal, ObjectType, Type } from '../../types.ts'
import { fieldsIn, isPresent, type View, type Views, viewSuffixes } from '../../views.ts'
import { filled, printComment, printImport, printKey, printType, quote } from './print.ts'

export class TypeNames {
  readonly #used: Set<string>
  readonly #views: Views
  readonly #hasComments: boolean

  constructor(views: Views, hasComments = false, used = new Set<string>()) {
    this.#views = views
    this.#hasComments = hasComments
    this.#used = used
  }

  /**
   * Returns a printer that records components in the same set but prints no comments, because a component's first type
   * has them.
   */
  withoutComments(): TypeNames {
    return new TypeNames(this.#views, false, this.#used)
  }

  /**
   * Returns a component's type name, such as Thing. If the type for requests, or for handlers, differs from the type
   * for responses, returns ThingInput or ThingReceived.
   */
  component(name: string, view: View): string {
    const canonical = this.#views.canonical(name, view)
    const isFirst = this.#views.distinct(name)[0] === canonical
    return this.use(isFirst ? name : name + viewSuffixes[canonical])
  }

  use(name: string): string {
    this.#used.add(name)
    return name
  }

  used(): string[] {
    return [...this.#used].sort()
  }

  importFrom(module: string): string {
    return printImport(this.used(), module)
  }

  print(type: Type, view: View, indent = ''): string {
    if (type.kind === 'any') return 'unknown'
    if (type.kind === 'null') return 'null'
    if (type.kind === 'bytes') return 'Uint8Array'
    if (type.kind === 'scalar')
      return { string: 'string', boolean: 'boolean', integer: 'number', number: 'number' }[type.scalar]
    if (type.kind === 'enum') return this.#join(type.values.map(printLiteral), '|', indent)
    if (type.kind === 'ref') return this.component(type.name, view)
    if (type.kind === 'list') return `${this.#operand(type.item, view, indent)}[]`
    if (type.kind === 'map') return `Record<string, ${this.print(type.value, view, indent)}>`
    if (type.kind === 'nullable') return `${this.print(type.of, view, indent)} | null`
    if (type.kind === 'all') return type.parts.map((part) => this.#operand(part, view, indent)).join(' & ')
    if (type.kind === 'union') return this.#join(this.#arms(type.arms, view, indent), '|', indent)
    return this.#object(type, view, indent)
  }

  /** Prints the parameters from one location (path, query or header) as an object type. */
  parameters(parameters: readonly Parameter[], view: View): string {
    if (parameters.length === 0) return 'Record<string, never>'
    const members = parameters.map(({ in: where, name, required, type, fallback, description }) => {
      const comment = this.#hasComments ? printComment({ description }, '    ') : ''
      const isThere = required || (view === 'received' && fallback !== undefined)
      return `${comment}${printKey(where === 'header' ? name.toLowerCase() : name)}${isThere ? '' : '?'}: ${this.print(type, view, '    ')}`
    })
    return printType(members, '  ')
  }

  #object(type: ObjectType, view: View, indent: string): string {
    const fields = fieldsIn(type, view)
    if (fields.length === 0) return 'Record<string, never>'
    const members = fields.map((field) => {
      const comment = this.#hasComments ? printComment(field, `${indent}  `) : ''
      const mark = isPresent(field, view) ? '' : '?'
      return `${comment}${printKey(field.name)}${mark}: ${this.print(field.type, view, `${indent}  `)}`
    })
    return printType(members, indent)
  }

  #arms(arms: readonly Type[], view: View, indent: string): string[] {
    return [...new Set(arms.map((arm) => this.print(arm, view, indent)))]
  }

  /** Adds parentheses if `[]` or `&` would apply only to the union's last member. */
  #operand(type: Type, view: View, indent: string): string {
    const text = this.print(type, view, indent)
    const isOne = type.kind !== 'nullable' && type.kind !== 'union' && type.kind !== 'enum' && type.kind !== 'all'
    return isOne || !/ [|&] /.test(text) ? text : `(${text})`
  }

  #join(arms: readonly string[], operator: string, indent: string): string {
    const oneLine = arms.join(` ${operator} `)
    if (indent.length + oneLine.length <= 100) return oneLine
    const items = arms.map((arm) => `${operator} ${arm}`)
    return filled(items, 118 - indent.length)
      .map((line) => `\n${indent}  ${line}`)
      .join('')
  }
}

function printLiteral(value: Literal): string {
  return typeof value === 'string' ? quote(value) : String(value)
}
