/**
 * Declares unions, events and frames as sealed interfaces. Values from later versions of the server have the type
 * Unknown.
 */
import type { ClientChannel, ClientOperation, ClientWebhook, UnionDeclaration, Use } from '../../clients/model.ts'
import { filled, javadoc, widthMax } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '

/** A type, and the tag values for this type. */
type Arm = { on: readonly string[]; type: string }
type Interface = { name: string; about: string; tag: string | null; arms: readonly Arm[]; isReceived: boolean }

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
    const { declarations, operations, channels, webhooks } = java.surface
    for (const declaration of declarations) if (declaration.kind === 'union') this.#declareUnion(declaration)
    for (const operation of operations) this.#declareEvents(operation)
    for (const channel of channels) this.#declareFrames(channel)
    if (webhooks.length > 0) this.#declareWebhooks(webhooks)
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

  #declareUnion({ name, tag, arms, description }: UnionDeclaration): void {
    this.#declare({
      name: this.#java.nameOf(name),
      about: description,
      tag,
      arms: arms.map(({ use, tagValues, json }) => ({
        on: tagValues.length > 0 ? tagValues : [json],
        type: this.#armType(use),
      })),
      isReceived: this.#java.directions.isReceived(name),
    })
  }

  #declareEvents({ id, methods }: ClientOperation): void {
    const answer = methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
    if (answer?.kind !== 'events') return
    const arms = answer.events.map(({ event, use }) => ({ on: [event], type: this.#armType(use) }))
    const name = this.#java.names.take(eventName(id), 'Data')
    this.#declare({ name, about: `The data of an event of ${id}.`, tag: null, arms, isReceived: true })
  }

  #declareFrames({ id, sends, receives, frameType }: ClientChannel): void {
    const armsOf = (frames: ClientChannel['sends']) =>
      frames.map(({ type, isBinary, use }) => ({
        on: isBinary ? ['(binary)'] : [type],
        type: use === null ? this.#audioType() : this.#armType(use),
      }))
    const [sent, received] = frameNames(id).map((name) => this.#java.names.take(name)) as [string, string]
    this.#declare({
      name: sent,
      about: `A frame of the client in ${id}.`,
      tag: null,
      arms: armsOf(sends),
      isReceived: false,
    })
    this.#declare({
      name: received,
      about: `A frame of the server in ${id}.`,
      tag: frameType,
      arms: armsOf(receives),
      isReceived: true,
    })
  }

  /**
   * Declares an interface for webhook bodies. The field `type` tells the bodies apart. At most one body has no such
   * field.
   */
  #declareWebhooks(webhooks: readonly ClientWebhook[]): void {
    const types = new Map(webhooks.map(({ body }) => [this.#armType(body), this.#typeText(body)]))
    const arms = [...types].map(([type, text]) => ({ on: [text], type }))
    this.#declare({
      name: this.#java.names.take('WebhookEvent'),
      about: 'The body of a webhook.',
      tag: 'type',
      arms,
      isReceived: true,
    })
  }

  #typeText(body: Use): string {
    const declaration = this.#java.directions.declaration(body.kind === 'named' ? body.name : '')
    const field = declaration.kind === 'object' ? declaration.fields.find(({ name }) => name === 'type') : undefined
    return field?.use.kind === 'constant' ? field.use.value : ''
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

/** The interface for the data in an operation's events. */
export const eventName = (id: string) => `${id}Event`
export const frameNames = (id: string) => [`${id}Sent`, `${id}Received`] as const

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
    const texts = on.map((text) => (text === '(binary)' ? 'Union.BINARY' : JSON.stringify(text)))
    return `@Union.Arm(on = ${texts.length === 1 ? texts[0] : `{${texts.join(', ')}}`}, as = ${type}.class)`
  })
  const head = `${tag === null ? '' : `tag = ${JSON.stringify(tag)}, `}unknown = Unknown.class, value = {`
  const printed = filled(lines, ', ', widthMax - 9).map((line) => `${indent}    ${line}`)
  return `${indent}@Union(${head}\n${printed.join(',\n')}})\n`
}
