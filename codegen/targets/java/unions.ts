/**
 * Declares unions, events and frames as sealed interfaces. Values from later server versions have the type Unknown.
 */
import { type Arm, binaryTag, declareInterfaces, type Interface } from '../../clients/interfaces.ts'
import { filled, widthMax } from '../../clients/layout.ts'
import type { Use } from '../../clients/model.ts'
import { javadoc } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '

/**
 * The interfaces nested in one API's class. Strings, numbers and lists cannot implement an interface, so a generated
 * record holds each as its only component.
 */
export class Interfaces {
  readonly #java: JavaSurface
  readonly #interfaces: Interface[] = []
  /** The component's type, by the name of the record that wraps it. */
  readonly #wrappers = new Map<string, string>()

  constructor(java: JavaSurface) {
    this.#java = java
    const names = {
      nameOf: (name: string) => java.nameOf(name),
      take: (name: string, suffix?: string) => java.names.take(name, suffix),
      armType: (use: Use) => this.#armType(use),
      audioType: () => this.#audioType(),
    }
    declareInterfaces(java.surface, java.directions, names, (declared) => this.#declare(declared))
  }

  emit(): string[] {
    const wrappers = [...this.#wrappers].map(([name, type]) => this.#emitWrapper(name, type))
    return [...this.#interfaces.map((each) => this.#emitInterface(each)), ...wrappers]
  }

  #declare(declared: Interface): void {
    this.#interfaces.push(declared)
    for (const { type } of declared.arms) this.#java.implement(type, declared.name)
    if (!declared.isReceived) return
    this.#wrappers.set('Unknown', 'JsonNode')
    this.#java.implement('Unknown', declared.name)
  }

  /** Returns the named type for a union's member. Strings, numbers and lists are wrapped in a record. */
  #armType(use: Use): string {
    if (use.kind === 'named') return this.#java.nameOf(use.name)
    const name = wrapperName(use, this.#java)
    this.#wrappers.set(name, this.#java.boxedType(use, true))
    return name
  }

  #audioType(): string {
    this.#wrappers.set('Audio', 'byte[]')
    return 'Audio'
  }

  #emitInterface({ name, about, tag, arms, isReceived }: Interface): string {
    const text = about || `One of the types ${arms.map(({ type }) => type).join(', ')}.`
    const extended = this.#java.interfacesOf(name)
    const suffix = extended.length > 0 ? ` extends ${extended.join(', ')}` : ''
    const annotation = isReceived ? emitUnion(tag, arms) : ''
    return `${javadoc(text, [], indent)}${annotation}${indent}public sealed interface ${name}${suffix} {}\n`
  }

  #emitWrapper(name: string, type: string): string {
    const first = type === 'byte[]' ? 'Socket.BinaryFrame' : `Wrapper<${type}>`
    const all = [first, ...this.#java.interfacesOf(name)]
    const head = `public record ${name}(${type} value) implements `
    const lines = filled(all, ', ', widthMax - 12)
    const printed =
      head.length + lines.join(', ').length + 7 <= widthMax
        ? lines.join(', ')
        : `\n${indent}    ${lines.join(`,\n${indent}    `)}`
    return `${javadoc(aboutWrapper[name] ?? 'A list in a union.', [], indent)}${indent}${head.trimEnd()}${printed.startsWith('\n') ? '' : ' '}${printed} {}\n`
  }
}

/** Returns the name of the record for a union's member without a name. */
export function wrapperName(use: Use, java: JavaSurface): string {
  const type = java.boxedType(use, true)
  const name = use.kind === 'list' ? `${java.boxedType(use.item, false)}List` : wrapperNames[type]
  if (name === undefined) throw new Error(`a union cannot have an arm of the type ${type}`)
  return name
}

const wrapperNames: Readonly<Record<string, string>> = {
  String: 'TextValue',
  Double: 'NumberValue',
  Boolean: 'BooleanValue',
  'Map<String, Object>': 'ObjectValue',
}

const aboutWrapper: Readonly<Record<string, string>> = {
  Audio: 'A binary frame.',
  BooleanValue: 'A truth value in a union.',
  NumberValue: 'A number in a union.',
  ObjectValue: 'An object with any fields in a union.',
  TextValue: 'A text in a union.',
  Unknown: 'A value from a later version of the server.',
}

/** Prints the annotation from which the engine finds a value's type. */
function emitUnion(tag: string | null, arms: readonly Arm[]): string {
  const lines = arms.map(({ on, type }) => {
    const texts = on.map((text) => (text === binaryTag ? 'Union.BINARY' : JSON.stringify(text)))
    return `@Union.Arm(on = ${texts.length === 1 ? texts[0] : `{${texts.join(', ')}}`}, as = ${type}.class)`
  })
  const head = `${tag === null ? '' : `tag = ${JSON.stringify(tag)}, `}unknown = Unknown.class, value = {`
  const printed = filled(lines, ', ', widthMax - 9).map((line) => `${indent}    ${line}`)
  return `${indent}@Union(${head}\n${printed.join(',\n')}})\n`
}
