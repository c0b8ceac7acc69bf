/** Prints JSON values as Go values in the client's types. */
import type { ClientField, ObjectDeclaration, UnionDeclaration, Use } from '../../clients/model.ts'
import { armOf, jsonKindOf, unlisted } from '../programs.ts'
import { distinct, exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { constantType, fieldType, goType } from './types.ts'
import { wrapper } from './unions.ts'

type Fields = Readonly<Record<string, unknown>>

/** A value longer than this has a line for each part. */
const lineMax = 90

export class Literals {
  readonly #goPackage: GoPackage

  constructor(goPackage: GoPackage) {
    this.#goPackage = goPackage
  }

  /** Prints a value where its type is already known, such as in a field. */
  value(use: Use, value: unknown): string {
    switch (use.kind) {
      case 'any':
      case 'null':
        return anyValue(value)
      case 'bytes':
        return 'audio'
      case 'constant':
        return JSON.stringify(value)
      case 'scalar':
        return use.format === 'date-time' ? time(String(value)) : JSON.stringify(value)
      case 'list':
        return this.#list(use.item, value as unknown[])
      case 'map':
        return this.#map(use.value, value as Fields)
      case 'nullable':
        return value === null ? 'nil' : this.pointer(use.of, value)
      case 'named':
        return this.#named(use.name, value)
    }
  }

  /** Prints an optional value. Lists, maps and interfaces need no pointer. */
  pointer(use: Use, value: unknown): string {
    if (['list', 'map', 'any', 'bytes'].includes(use.kind) || this.#goPackage.isUnion(use))
      return this.value(use, value)
    return this.#isObject(use) ? `&${this.value(use, value)}` : `parley.Ptr(${this.typed(use, value)})`
  }

  /** Prints a value with its type, for code that does not state the type otherwise. */
  typed(use: Use, value: unknown): string {
    const text = this.value(use, value)
    const type = this.typeOf(use)
    const isTyped = /^(string|bool|time\.Time)$/.test(type) || this.#isObject(use) || /^(\[\]|map\[)/.test(type)
    return isTyped || this.#goPackage.isUnion(use) ? text : `${type}(${text})`
  }

  /** Returns a type as other packages name it. */
  typeOf(use: Use): string {
    const inner = goType(use, this.#goPackage)
    return inner.replace(/(^|[\]*[])([A-Z]\w*)/g, `$1${this.#goPackage.surface.name}.$2`)
  }

  #named(name: string, value: unknown): string {
    const declaration = this.#goPackage.declaration(name)
    if (declaration.kind === 'enum') return JSON.stringify(value)
    if (declaration.kind === 'union') return this.#union(declaration, value)
    return this.#typeName(name) + this.#fields(declaration, value as Fields)
  }

  #union(declaration: UnionDeclaration, value: unknown): string {
    const found = armOf(declaration, value)
    if (found.use.kind === 'named') {
      const text = this.value(found.use, value)
      return this.#isObject(found.use) ? text : `${this.#typeName(found.use.name)}(${text})`
    }
    const [type] = wrapper(found.use, this.#goPackage)
    const qualified = `${this.#goPackage.surface.name}.${type}`
    const text = this.value(found.use, value)
    return jsonKindOf(value) === 'array'
      ? qualified + text.slice(this.typeOf(found.use).length)
      : `${qualified}(${text})`
  }

  #list(item: Use, values: readonly unknown[]): string {
    const type = this.typeOf(item)
    const items = values.map((value) => {
      const text = this.value(item, value)
      return this.#isObject(item) ? text.slice(type.length) : text
    })
    return `[]${type}${braces(items.map((text) => ['', text]))}`
  }

  #map(item: Use, values: Fields): string {
    const entries = Object.entries(values).map(([name, value]): [string, string] => [
      JSON.stringify(name),
      this.value(item, value),
    ])
    return `map[string]${this.typeOf(item)}${braces(entries)}`
  }

  #fields(declaration: ObjectDeclaration, value: Fields): string {
    const { fields, rest, name: owner } = declaration
    const names = distinct(fields.map(({ name }) => exported(name)))
    const given = fields.flatMap((field, place): [string, string][] => {
      if (!(field.name in value)) return []
      const { type } = fieldType(field, owner, this.#goPackage)
      const isConstant = field.use.kind === 'constant' && type === constantType(field.use.value)
      return isConstant ? [] : [[names[place] ?? '', this.#field(field, type, value[field.name])]]
    })
    const more = unlisted(fields, value)
    if (Object.keys(more).length > 0 && rest) given.push(['Extra', this.#map(rest, more)])
    return braces(given)
  }

  #field({ use, isRequired }: ClientField, type: string, value: unknown): string {
    if (isRequired) return this.value(use, value)
    if (use.kind !== 'nullable' || !type.startsWith('parley.Nullable')) return this.pointer(use, value)
    return value === null ? `parley.Null[${this.typeOf(use.of)}]()` : `parley.Value(${this.typed(use.of, value)})`
  }

  #isObject(use: Use): boolean {
    return use.kind === 'named' && this.#goPackage.declaration(use.name).kind === 'object'
  }

  #typeName(name: string): string {
    return `${this.#goPackage.surface.name}.${this.#goPackage.goName(name)}`
  }
}

function time(text: string): string {
  const at = new Date(text)
  const parts = [at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
  return `time.Date(${[at.getUTCFullYear(), ...parts].join(', ')}, ${at.getUTCMilliseconds() * 1_000_000}, time.UTC)`
}

function anyValue(value: unknown): string {
  if (value === null) return 'nil'
  if (Array.isArray(value)) return `[]any${braces(value.map((item) => ['', anyValue(item)]))}`
  if (typeof value !== 'object') return JSON.stringify(value)
  const entries = Object.entries(value).map(([name, item]): [string, string] => [JSON.stringify(name), anyValue(item)])
  return `map[string]any${braces(entries)}`
}

/** Prints a composite literal's parts. gofmt aligns the values in neighbouring lines if each has a single line. */
export function braces(parts: readonly (readonly [key: string, text: string])[]): string {
  const line = `{${parts.map(([key, text]) => (key === '' ? text : `${key}: ${text}`)).join(', ')}}`
  if (line.length <= lineMax && !line.includes('\n')) return line
  const lines = parts.map(([key, text], place) => {
    const indented = text.replaceAll('\n', '\n\t')
    return `\t${key === '' ? '' : `${key}:`.padEnd(widthAt(parts, place) + 2)}${indented},\n`
  })
  return `{\n${lines.join('')}}`
}

/**
 * Returns the longest key's length among the neighbouring one-line parts. A part with several lines is measured alone.
 */
function widthAt(parts: readonly (readonly [key: string, text: string])[], place: number): number {
  const isLong = (index: number) => parts[index]?.[1].includes('\n') ?? true
  if (isLong(place)) return (parts[place]?.[0] ?? '').length
  let [first, last] = [place, place]
  while (!isLong(first - 1)) first--
  while (!isLong(last + 1)) last++
  return Math.max(...parts.slice(first, last + 1).map(([key]) => key.length))
}
