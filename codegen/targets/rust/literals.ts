/** Prints JSON values as Rust expressions in the client's types. */
import type { ClientField, Declaration, UnionDeclaration, Use } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { armOf, unlisted } from '../programs.ts'
import { variantsOf } from './enums.ts'
import type { RustModule } from './module.ts'
import { variable } from './names.ts'
import { tagOf } from './structs.ts'

type Fields = Readonly<Record<string, unknown>>

/** An expression longer than this has a line for each field. */
const lineMax = 90

export class Literals {
  readonly #module: RustModule

  constructor(module: RustModule) {
    this.#module = module
  }

  /** Prints a value where its type is already known, such as in a field. */
  value(use: Use, value: unknown): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return `json!(${JSON.stringify(value)})`
      case 'bytes':
        return 'audio'
      case 'constant':
        return `${JSON.stringify(value)}.into()`
      case 'scalar':
        return scalar(use, value)
      case 'list':
        return list((value as unknown[]).map((item) => this.value(use.item, item)))
      case 'map':
        return this.#map(use.value, value as Fields)
      case 'nullable':
        return value === null ? 'None' : `Some(${this.value(use.of, value)})`
      case 'named':
        return this.#named(this.#module.directions.declaration(use.name), value)
    }
  }

  /** Prints a struct. The function `new` or the default gives the other fields. */
  made(type: string, fields: readonly ClientField[], value: Fields, isSent: boolean): string {
    const names = distinct(
      fields.map(({ name }) => variable(name)),
      '_alias',
    )
    const required = fields.filter(({ isRequired, use }) => isRequired && use.kind !== 'constant')
    const optional = fields.flatMap((field, place) =>
      field.name in value && !field.isRequired
        ? [`${names[place]}: ${this.#optional(field, isSent, value[field.name])}`]
        : [],
    )
    const inputs = required.map(({ use, name }) => this.#input(use, value[name]))
    const start = inputs.length > 0 ? call(`${type}::new`, inputs) : 'Default::default()'
    if (optional.length === 0)
      return inputs.length > 0 ? start : fields.length === 0 ? `${type} {}` : `${type}::default()`
    const isComplete = optional.length === fields.length
    return braces(type, isComplete ? optional : [...optional, `..${start}`])
  }

  /** Returns an argument for `new`. It takes a `&str` for a string, and for a union each member. */
  #input(use: Use, value: unknown): string {
    const declaration = use.kind === 'named' ? this.#module.directions.declaration(use.name) : null
    if (declaration?.kind === 'union') return this.#arm(declaration, value)
    const isText = use.kind === 'scalar' && use.scalar === 'string' && use.format !== 'date-time'
    return isText ? JSON.stringify(value) : this.value(use, value)
  }

  #optional({ use }: ClientField, isSent: boolean, value: unknown): string {
    if (use.kind !== 'nullable') return `Some(${this.value(use, value)})`
    if (!isSent) return this.value(use, value)
    return value === null ? 'Nullable::Null' : `Nullable::Value(${this.value(use.of, value)})`
  }

  #named(declaration: Declaration, value: unknown): string {
    const name = this.#module.nameOf(declaration.name)
    if (declaration.kind === 'enum') {
      const variants = variantsOf(declaration)
      return `${name}::${variants[declaration.values.indexOf(String(value))]}`
    }
    if (declaration.kind === 'object') return this.#object(name, declaration, value as Fields)
    return `${this.#arm(declaration, value)}.into()`
  }

  /** Returns a union's value in the member's type. */
  #arm(declaration: UnionDeclaration, value: unknown): string {
    const arm = armOf(declaration, value)
    const isText = arm.use.kind === 'scalar' && arm.use.scalar === 'string'
    return isText ? `String::from(${JSON.stringify(value)})` : this.value(arm.use, value)
  }

  #object(type: string, declaration: Declaration & { kind: 'object' }, value: Fields): string {
    const tag = tagOf(declaration)
    const fields = declaration.fields.filter((field) => field !== tag)
    const { rest, name } = declaration
    const extra: ClientField[] = rest === null ? [] : [{ ...noField, name: 'extra', use: { kind: 'map', value: rest } }]
    const more = unlisted(declaration.fields, value)
    const isSent = this.#module.directions.isSent(name)
    if (Object.keys(more).length === 0) return this.made(type, [...fields, ...extra], value, isSent)
    const made = this.made(type, fields, value, isSent).replace(/^\w+::default\(\)$/, 'Default::default()')
    return braces(type, [`extra: ${this.#map(rest ?? { kind: 'any' }, more)}`, `..${made}`])
  }

  #map(item: Use, values: Fields): string {
    const pairs = Object.entries(values).map(
      ([name, value]) => `(${JSON.stringify(name)}.into(), ${this.value(item, value)})`,
    )
    return wrapped(item.kind === 'any' ? 'Map::from_iter([' : 'BTreeMap::from([', pairs, '])', '')
  }
}

const noField = { isRequired: false, fallback: undefined, isDeprecated: false, description: '' }

/** Prints a call: on one line if it fits, else with an argument in each line. A single argument needs no lines. */
export function call(name: string, inputs: readonly string[]): string {
  if (inputs.length === 1) return `${name}(${inputs[0]})`
  return wrapped(`${name}(`, inputs, ')', '')
}

/** A single item needs no separate line. */
const list = (items: readonly string[]) => (items.length === 1 ? `vec![${items[0]}]` : wrapped('vec![', items, ']', ''))
const braces = (type: string, parts: readonly string[]) => wrapped(`${type} {`, parts, '}', ' ')

function wrapped(before: string, parts: readonly string[], after: string, pad: string): string {
  const line = `${before}${pad}${parts.join(', ')}${pad}${after}`
  if (line.length <= lineMax && !line.includes('\n')) return line
  const lines = parts.map((part) => {
    const end = part.startsWith('..') ? '' : ','
    return `    ${part.replaceAll('\n', '\n    ')}${end}\n`
  })
  return `${before}\n${lines.join('')}${after}`
}

function scalar({ scalar, format }: Use & { kind: 'scalar' }, value: unknown): string {
  const text = JSON.stringify(value)
  if (format === 'date-time') return `${text}.parse()?`
  if (scalar === 'string') return `${text}.into()`
  return scalar === 'number' && !/[.e]/.test(text) ? `${text}.0` : text
}
