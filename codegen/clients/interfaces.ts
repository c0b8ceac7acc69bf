/**
 * Finds the types for which a language declares an interface over other types: unions, an operation's events, a
 * socket's frames, and webhook bodies.
 */
import type { Directions } from './directions.ts'
import type { ClientChannel, ClientOperation, ClientWebhook, Surface, UnionDeclaration, Use } from './model.ts'

/** A type, and the tag values for this type. A binary frame has the tag value `binaryTag`. */
export type Arm = { on: readonly string[]; type: string }
export type Interface = { name: string; about: string; tag: string | null; arms: readonly Arm[]; isReceived: boolean }

export const binaryTag = '(binary)'

/** A language's names for an interface and its types. */
export type InterfaceNames = {
  /** A declared union's name. */
  nameOf(declared: string): string
  /** Reserves a name for an interface without a declaration. */
  take(name: string, suffix?: string): string
  /** The type for a union's member. Strings, numbers and lists need a wrapper. */
  armType(use: Use): string
  /** The type for a binary frame. */
  audioType(): string
}

/** The interface for the data in an operation's events. */
export const eventName = (id: string) => `${id}Event`
export const frameNames = (id: string) => [`${id}Sent`, `${id}Received`] as const

/** Calls `declare` with each interface in an API, after the names for its types are known. */
export function declareInterfaces(
  surface: Surface,
  directions: Directions,
  names: InterfaceNames,
  declare: (declared: Interface) => void,
): void {
  const { declarations, operations, channels, webhooks } = surface
  for (const declaration of declarations)
    if (declaration.kind === 'union') declare(unionInterface(declaration, directions, names))
  for (const operation of operations) eventInterfaces(operation, names).forEach(declare)
  for (const channel of channels) frameInterfaces(channel, names).forEach(declare)
  if (webhooks.length > 0) declare(webhookInterface(webhooks, directions, names))
}

function unionInterface(union: UnionDeclaration, directions: Directions, names: InterfaceNames): Interface {
  const { name, tag, arms, description } = union
  return {
    name: names.nameOf(name),
    about: description,
    tag,
    arms: arms.map(({ use, tagValues, json }) => ({
      on: tagValues.length > 0 ? tagValues : [json],
      type: names.armType(use),
    })),
    isReceived: directions.isReceived(name),
  }
}

function eventInterfaces({ id, methods }: ClientOperation, names: InterfaceNames): Interface[] {
  const answer = methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
  if (answer?.kind !== 'events') return []
  const arms = answer.events.map(({ event, use }) => ({ on: [event], type: names.armType(use) }))
  const name = names.take(eventName(id), 'Data')
  return [{ name, about: `The data of an event of ${id}.`, tag: null, arms, isReceived: true }]
}

function frameInterfaces({ id, sends, receives, frameType }: ClientChannel, names: InterfaceNames): Interface[] {
  const armsOf = (frames: ClientChannel['sends']) =>
    frames.map(({ type, isBinary, use }) => ({
      on: isBinary ? [binaryTag] : [type],
      type: use === null ? names.audioType() : names.armType(use),
    }))
  const [sent, received] = frameNames(id).map((name) => names.take(name)) as [string, string]
  const frame = (name: string, side: string) => ({ name, about: `A frame of the ${side} in ${id}.` })
  return [
    { ...frame(sent, 'client'), tag: null, arms: armsOf(sends), isReceived: false },
    { ...frame(received, 'server'), tag: frameType, arms: armsOf(receives), isReceived: true },
  ]
}

/**
 * Returns the interface for webhook bodies. The field `type` tells the bodies apart. At most one body has no such
 * field.
 */
function webhookInterface(
  webhooks: readonly ClientWebhook[],
  directions: Directions,
  names: InterfaceNames,
): Interface {
  const types = new Map(webhooks.map(({ body }) => [names.armType(body), typeText(body, directions)]))
  const arms = [...types].map(([type, text]) => ({ on: [text], type }))
  return { name: names.take('WebhookEvent'), about: 'The body of a webhook.', tag: 'type', arms, isReceived: true }
}

function typeText(body: Use, directions: Directions): string {
  const declaration = directions.declaration(body.kind === 'named' ? body.name : '')
  const field = declaration.kind === 'object' ? declaration.fields.find(({ name }) => name === 'type') : undefined
  return field?.use.kind === 'constant' ? field.use.value : ''
}
