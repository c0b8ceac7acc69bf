/**
 * Emits schemas/<surface>.py: a TypedDict for each object, and an alias for each enum, union, multipart form and event
 * stream.
 */

import type {
  ClientField,
  ClientOperation,
  EnumDeclaration,
  ObjectDeclaration,
  Surface,
  UnionDeclaration,
  Use,
} from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { type Modules, printImports } from './imports.ts'
import { type Block, classText, inherited } from './inherited.ts'
import { alias, banner, docstring, filled, isPlainName, literal, withComment } from './print.ts'
import { namesIn, Uses } from './uses.ts'

/**
 * Aliases come after the classes, because Python evaluates an alias at once, but does not evaluate the types of fields.
 */
export function emitTypes(surface: Surface): string {
  const uses = new Uses(surface)
  const { declarations, operations, channels } = surface
  const enums = declarations.filter((declaration) => declaration.kind === 'enum')
  const objects = declarations.filter((declaration) => declaration.kind === 'object')
  const unions = declarations.filter((declaration) => declaration.kind === 'union')
  const body = joined([
    ...enums.map((declaration) => block(emitEnum(declaration, sameBefore(declaration, enums)))),
    ...inherited([
      ...objects.flatMap((object) => emitObject(object, uses)),
      ...operations.flatMap((operation) => emitForm(operation, uses)),
    ]),
    ...inOrder(unions).map((union) => block(emitUnion(union, uses))),
    ...operations.map((operation) => block(emitEvents(operation, uses))),
    ...channels.flatMap(({ id, sends, receives }) => [
      block(emitFrames(`${pascalCase(id)}Sends`, sends, uses)),
      block(emitFrames(`${pascalCase(id)}Receives`, receives, uses)),
    ]),
    ...webhookGroups(surface).map(({ name, bodies }) => block(emitArms(name, bodies, uses))),
  ])
  return `${banner('types', surface.file)}"""The types of the surface \`${surface.name}\`."""\n\n${printImports(modules, body)}${body}`
}

const block = (text: string): Block => ({ text, isClass: false })

function joined(blocks: readonly Block[]): string {
  let text = ''
  let isClassBefore = true
  for (const { text: next, isClass } of blocks.filter((each) => each.text !== '')) {
    text += (isClass || isClassBefore ? '\n' : '') + next
    isClassBefore = isClass
  }
  return text
}

/** Returns the form type's name. */
export const formName = ({ id }: ClientOperation) => `${pascalCase(id)}Form`

/** Returns the event type's name. */
export const eventName = ({ id }: ClientOperation) => `${pascalCase(id)}Event`

/** Groups webhooks by the word before the dot: call.report is in the group `call`. */
export function webhookGroups({
  webhooks,
}: Surface): { group: string; name: string; events: string[]; bodies: Use[] }[] {
  const groupOf = (event: string) => event.split('.')[0] ?? event
  const groups = [...new Set(webhooks.map(({ event }) => groupOf(event)))]
  return groups.map((group) => {
    const members = webhooks.filter(({ event }) => groupOf(event) === group)
    const [events, bodies] = [members.map(({ event }) => event), members.map(({ body }) => body)]
    return { group, name: `${pascalCase(group)}Webhook`, events, bodies }
  })
}

/** Returns the first enum with the same values, if it is another enum. */
function sameBefore(declaration: EnumDeclaration, enums: readonly EnumDeclaration[]): string | null {
  const valuesOf = ({ values }: EnumDeclaration) => JSON.stringify(values.toSorted())
  const first = enums.find((each) => valuesOf(each) === valuesOf(declaration))
  return first === undefined || first === declaration ? null : first.name
}

/** An enum with the same values as an earlier enum is its alias. */
function emitEnum({ name, values, description }: EnumDeclaration, same: string | null): string {
  const text = same === null ? filled(`${name}: TypeAlias = Literal[`, values.map(literal), ']') : alias(name, [same])
  return text + docstring(description, '')
}

function emitObject({ name, description, fields, rest }: ObjectDeclaration, uses: Uses): Block[] {
  if (rest && fields.length === 0)
    return [
      block(alias(name, [uses.print({ kind: 'map', value: rest }, uses.direction(name))]) + docstring(description, '')),
    ]
  const texts = [description.trim(), rest ? 'Other fields are allowed too.' : '']
  const print = (use: Use) => uses.print(use, uses.direction(name))
  return emitClass(name, texts.filter((text) => text !== '').join(' '), fields, print)
}

type PrintedField = Pick<ClientField, 'name' | 'use' | 'isRequired' | 'description' | 'fallback' | 'isDeprecated'>

/** Fields with a name that is not an identifier, such as `from`, are in a base class with another syntax. */
function emitClass(
  name: string,
  description: string,
  fields: readonly PrintedField[],
  print: (use: Use, name: string) => string,
): Block[] {
  const type = ({ name, use, isRequired }: PrintedField) =>
    isRequired ? print(use, name) : `NotRequired[${print(use, name)}]`
  const others = fields.filter((field) => !isPlainName(field.name))
  const lines = fields
    .filter((field) => isPlainName(field.name))
    .map((field) => withComment(`    ${field.name}: ${type(field)}`, describe(field)))
  const doc = docstring(description, '    ')
  const base = others.length === 0 ? 'TypedDict' : `_${name}`
  const fieldsOf = { name, base, doc, lines }
  const classBlock = { text: classText(fieldsOf), isClass: true, fields: fieldsOf }
  return others.length === 0 ? [classBlock] : [block(emitOthers(base, others, type)), classBlock]
}

function emitOthers(name: string, fields: readonly PrintedField[], type: (field: PrintedField) => string): string {
  const texts = fields.map(describe).filter((text) => text !== '')
  const items = fields.map((field) => `${literal(field.name)}: ${literal(type(field))}`)
  return withComment(`${name} = TypedDict(${literal(name)}, {${items.join(', ')}})`, texts.join(' '))
}

export function describe({
  description,
  fallback,
  isDeprecated,
}: Pick<PrintedField, 'description' | 'fallback' | 'isDeprecated'>): string {
  const texts = [isDeprecated ? 'Deprecated.' : '', description.trim()]
  if (fallback !== undefined && fallback !== null) texts.push(`Default: ${literal(fallback)}.`)
  return texts.filter((text) => text !== '').join(' ')
}

function emitForm(operation: ClientOperation, uses: Uses): Block[] {
  if (operation.body?.kind !== 'multipart') return []
  const { parts } = operation.body
  const lists = new Set(parts.filter(({ isList, use }) => isList && use.kind !== 'list').map(({ name }) => name))
  return emitClass(formName(operation), 'The parts of the form.', parts, (use, name) => {
    const printed = use.kind === 'bytes' ? 'FileContent' : uses.print(use, 'sent')
    return lists.has(name) ? `Sequence[${printed}]` : printed
  })
}

function emitUnion({ name, description, arms }: UnionDeclaration, uses: Uses): string {
  const printed = arms.map(({ use }) => uses.print(use, uses.direction(name)))
  return alias(name, [...new Set(printed)]) + docstring(description, '')
}

function emitEvents(operation: ClientOperation, uses: Uses): string {
  const answer = operation.methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
  if (answer?.kind !== 'events') return ''
  const arms = answer.events.map(
    ({ event, use }) => `Event[Literal[${literal(event)}], ${uses.print(use, 'answered')}]`,
  )
  return alias(eventName(operation), arms)
}

function emitFrames(name: string, frames: readonly { use: Use | null }[], uses: Uses): string {
  const bodies = frames.flatMap(({ use }) => use ?? [])
  return emitArms(name, bodies, uses)
}

function emitArms(name: string, arms: readonly Use[], uses: Uses): string {
  return alias(name, [...new Set(arms.map((use) => uses.print(use, 'answered')))])
}

/** A union comes after all unions in it. */
function inOrder(unions: readonly UnionDeclaration[]): UnionDeclaration[] {
  const ordered = new Set<UnionDeclaration>()
  const visit = (union: UnionDeclaration): void => {
    if (ordered.has(union)) return
    const names = union.arms.flatMap(({ use }) => namesIn(use))
    for (const inner of unions) if (inner !== union && names.includes(inner.name)) visit(inner)
    ordered.add(union)
  }
  unions.forEach(visit)
  return [...ordered]
}

const modules: Modules = [
  ['collections.abc', ['Mapping', 'Sequence']],
  ['typing', ['Any', 'Literal', 'TypeAlias']],
  ['typing_extensions', ['NotRequired', 'TypedDict']],
  ['..engine.events', ['Event']],
  ['..engine.operations', ['FileContent']],
]
