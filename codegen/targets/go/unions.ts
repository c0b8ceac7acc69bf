/**
 * Emits unions as sealed interfaces. A type switch finds the value, and values from later server versions have the
 * type Unknown.
 */
import type { UnionDeclaration, Use } from '../../clients/model.ts'
import { aligned, alignedPairs, comment, goFile, widthMax } from './format.ts'
import type { GoPackage } from './package.ts'
import { goType } from './types.ts'

/** One package's interfaces, and the types in each interface. */
export class Interfaces {
  readonly #goPackage: GoPackage
  readonly #parts: string[] = []
  readonly #wrappers = new Map<string, string>()
  #hasUnknown = false

  constructor(goPackage: GoPackage) {
    this.#goPackage = goPackage
  }

  /** Declares an interface. The types have its unexported method, so no other type can implement it. */
  declare(name: string, about: string, types: readonly string[], isReceived: boolean): void {
    const all = isReceived ? [...new Set(types), 'Unknown'] : [...new Set(types)]
    this.#hasUnknown ||= isReceived
    const doc = comment(`${name} is ${about}: ${all.join(', ')}.`)
    const methods = all.map((type) => ({ cells: [`func (${type}) is${name}()`, '{}'] }))
    this.#parts.push(`${doc}type ${name} interface{ is${name}() }`, aligned(methods).replace(/^\t/gm, '').trimEnd())
  }

  /** Adds the text of a function that belongs to an interface. */
  add(text: string): void {
    this.#parts.push(text)
  }

  /**
   * Returns the Go type for a union's member. Strings, numbers and lists get a wrapper type with the union's method.
   */
  armType(use: Use): string {
    if (use.kind === 'named') return this.#goPackage.goName(use.name)
    const [name, type] = wrapper(use, this.#goPackage)
    this.#wrappers.set(name, type)
    return name
  }

  /** Returns the zero value of a union's member. */
  zero(type: string): string {
    const kind = this.#wrappers.get(type) ?? (this.#goPackage.isEnumName(type) ? 'string' : 'struct')
    if (kind === 'struct') return `${type}{}`
    return `${type}(${{ string: '""', float64: '0', int64: '0', bool: 'false' }[kind] ?? 'nil'})`
  }

  /** Binary frames have this type. */
  audioType(): string {
    this.#wrappers.set('Audio', '[]byte')
    return 'Audio'
  }

  emit(): string | null {
    if (this.#parts.length === 0) return null
    const wrappers = [...this.#wrappers].map(([name, type]) => emitWrapper(name, type))
    const unknown = this.#hasUnknown ? [unknownType] : []
    return goFile('unions', this.#goPackage.surface, [...this.#parts, ...wrappers, ...unknown])
  }
}

const unknownType = `// Unknown is a value from a later version of the server.
type Unknown struct{ JSON json.RawMessage }

// MarshalJSON returns the JSON as the server sent it.
func (u Unknown) MarshalJSON() ([]byte, error) { return u.JSON, nil }`

const about: Readonly<Record<string, string>> = {
  Audio: 'Audio is a binary frame.',
  Bool: 'Bool is a truth value in a union.',
  Number: 'Number is a number in a union.',
  Object: 'Object is an object with any fields in a union.',
  Text: 'Text is a text in a union.',
}

function emitWrapper(name: string, type: string): string {
  const doc = comment(about[name] ?? `${name} is a list in a union.`)
  const method = '\n\n// BinaryFrame returns the bytes.\nfunc (a Audio) BinaryFrame() []byte { return a }'
  return `${doc}type ${name} ${type}${name === 'Audio' ? method : ''}`
}

export function wrapper(use: Use, goPackage: GoPackage): [name: string, type: string] {
  const type = goType(use, goPackage)
  if (use.kind === 'list' && use.item.kind === 'named') return [`${goPackage.goName(use.item.name)}List`, type]
  const name = { string: 'Text', float64: 'Number', int64: 'Number', bool: 'Bool', 'map[string]any': 'Object' }[type]
  if (name === undefined) throw new Error(`a union cannot have an arm of the type ${type}`)
  return [name, type]
}

export function declareUnions(interfaces: Interfaces, goPackage: GoPackage): void {
  for (const declaration of goPackage.surface.declarations) {
    if (declaration.kind !== 'union') continue
    const isReceived = goPackage.isReceived(declaration.name)
    const name = goPackage.goName(declaration.name)
    const types = declaration.arms.map(({ use }) => interfaces.armType(use))
    interfaces.declare(name, 'one of these types', types, isReceived)
    if (isReceived) interfaces.add(emitDecoder(name, declaration, interfaces))
  }
}

function emitDecoder(name: string, { tag, arms }: UnionDeclaration, interfaces: Interfaces): string {
  const rows = arms.flatMap(({ use, tagValues, json }): Row[] => {
    const type = interfaces.armType(use)
    return (tag === null ? [json] : tagValues).map((text) => [JSON.stringify(text), interfaces.zero(type)])
  })
  const reader = tag === null ? 'ByKind(' : `ByTag(${JSON.stringify(tag)}, `
  return emitReader(name, reader, rows)
}

/** The text that tells the type apart, and the type's zero value. Both are Go expressions. */
export type Row = readonly [text: string, zero: string]

/** Prints a variable: the function to read the interface's values. `reader` is its maker in engine/internal/wire. */
export function emitReader(name: string, reader: string, rows: readonly Row[]): string {
  const all = [...rows, ['wire.Other', 'Unknown{}'] as const]
  const line = all.map(([text, zero]) => `${text}: ${zero},`).join(' ')
  const lines = line.length <= widthMax - 4 ? `\t${line}\n` : alignedPairs(all)
  return `var decode${name} = wire.${reader}wire.Types[${name}]{\n${lines}})`
}
