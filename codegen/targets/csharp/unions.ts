/**
 * Declares unions, events and frames as interfaces. Values from later server versions have the type Unknown.
 */
import { binaryTag, declareInterfaces, type Interface } from '../../clients/interfaces.ts'
import { filled, widthMax } from '../../clients/layout.ts'
import type { Use } from '../../clients/model.ts'
import { documentation } from './print.ts'
import type { CsharpSurface } from './surface.ts'

/**
 * The interfaces in one API. Strings, numbers and lists cannot implement an interface, so a generated record holds each
 * as its only value.
 */
export class Interfaces {
  readonly #csharp: CsharpSurface
  readonly #interfaces: Interface[] = []
  /** The value's type, by the name of the record that wraps it. */
  readonly #wrappers = new Map<string, string>()

  constructor(csharp: CsharpSurface) {
    this.#csharp = csharp
    const names = {
      nameOf: (name: string) => csharp.nameOf(name),
      take: (name: string, suffix?: string) => csharp.names.take(`I ${name}`, suffix),
      armType: (use: Use) => this.#armType(use),
      audioType: () => this.#wrap('Audio', 'byte[]'),
    }
    declareInterfaces(csharp.surface, csharp.directions, names, (declared) => this.#declare(declared))
  }

  emit(): string[] {
    const wrappers = [...this.#wrappers].map(([name, type]) => this.#emitWrapper(name, type))
    return [...this.#interfaces.map((each) => this.#emitInterface(each)), ...wrappers]
  }

  #declare(declared: Interface): void {
    this.#interfaces.push(declared)
    for (const { type } of declared.arms) this.#csharp.implement(type, declared.name)
    if (declared.isReceived) this.#csharp.implement(this.#wrap('Unknown', 'JsonElement'), declared.name)
  }

  /** Returns the named type for a union's member. Strings, numbers and lists are wrapped in a record. */
  #armType(use: Use): string {
    if (use.kind === 'named') return this.#csharp.nameOf(use.name)
    return this.#wrap(wrapperName(use, this.#csharp), this.#csharp.typeOf(use, true))
  }

  #wrap(name: string, type: string): string {
    this.#wrappers.set(name, type)
    return name
  }

  #emitInterface({ name, about, tag, arms, isReceived }: Interface): string {
    const text = about || `One of the types ${arms.map(({ type }) => type).join(', ')}.`
    const rule = [...(tag === null ? [] : [JSON.stringify(tag)]), ...(isReceived ? ['Unknown = typeof(Unknown)'] : [])]
    const attributes = [`Union(${rule.join(', ')})`.replace('()', ''), ...(isReceived ? arms.map(armText) : [])]
    const lines = filled(attributes, ', ', widthMax - 2).map((line) => `[${line}]\n`)
    return `${documentation(text, [], '')}${lines.join('')}public interface ${name}${this.#csharp.basesOf(name)} { }\n`
  }

  #emitWrapper(name: string, type: string): string {
    const bases = this.#csharp.basesOf(name, [`IWrapper<${type}>`]).split(', ')
    const lines = filled(
      bases.map((base, place) => (place < bases.length - 1 ? `${base},` : base)),
      ' ',
      widthMax - 60,
    )
    const text = aboutWrapper[name] ?? 'A list in a union.'
    return `${documentation(text, [], '')}public sealed record ${name}(${type} Value)${lines.join('\n    ')};\n`
  }
}

function armText({ on, type }: Interface['arms'][number]): string {
  const texts = on.map((text) => (text === binaryTag ? 'UnionAttribute.Binary' : JSON.stringify(text)))
  return `Arm(typeof(${type}), ${texts.join(', ')})`
}

/** Returns the name of the record for a union's member without a name. */
export function wrapperName(use: Use, csharp: CsharpSurface): string {
  if (use.kind === 'list' && use.item.kind === 'named') return `${csharp.nameOf(use.item.name)}List`
  const type = use.kind === 'list' ? `list of ${csharp.typeOf(use.item, true)}` : csharp.typeOf(use, true)
  const name = wrapperNames[type]
  if (name === undefined) throw new Error(`a union cannot have an arm of the type ${type}`)
  return name
}

const wrapperNames: Readonly<Record<string, string>> = {
  string: 'TextValue',
  double: 'NumberValue',
  bool: 'BooleanValue',
  'IReadOnlyDictionary<string, object?>': 'ObjectValue',
  'list of string': 'StringList',
  'list of long': 'LongList',
  'list of IReadOnlyList<long>': 'LongListList',
  'list of object?': 'ObjectList',
}

const aboutWrapper: Readonly<Record<string, string>> = {
  Audio: 'A frame of bytes.',
  BooleanValue: 'A truth value in a union.',
  NumberValue: 'A number in a union.',
  ObjectValue: 'An object with any fields in a union.',
  TextValue: 'A text in a union.',
  Unknown: 'A value from a later version of the server.',
}
