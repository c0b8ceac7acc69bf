/** Emits objects as positional records. Required fields come first, and the other fields can be left out. */
import { hanging } from '../../clients/layout.ts'
import type { ClientField, ObjectDeclaration, Use } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { describe } from '../../clients/texts.ts'
import { property, recordMembers, styled } from './names.ts'
import { documentation } from './print.ts'
import { type CsharpSurface, orNull } from './surface.ts'

type Member = { field: ClientField; name: string; attributes: string }

export function emitRecord(object: ObjectDeclaration, csharp: CsharpSurface): string {
  const name = csharp.nameOf(object.name)
  const isSent = csharp.directions.isSent(object.name)
  const members = membersOf(object.fields, name, csharp, isSent)
  const fixed = members.filter(({ field }) => isFixed(field))
  const open = members.filter(({ field }) => !isFixed(field))
  const ordered = [...open.filter(({ field }) => field.isRequired), ...open.filter(({ field }) => !field.isRequired)]
  const body = [...fixed.map(fixedProperty), ...(object.rest === null ? [] : [extraProperty(isSent)])].join(' ')
  const parameters = ordered.map((member) => parameterOf(member, csharp, isSent))
  const texts = ordered.map(({ name, field }) => [name, describe(field)] as const)
  const head = `public sealed record ${name}(`
  return (
    documentation(object.description, texts, '') +
    hanging(head, parameters, `)${csharp.basesOf(name)}${body === '' ? ';' : ''}`, body === '' ? '' : `{ ${body} }`)
  )
}

/** True if the field always has the same value, which the record sets itself. */
export const isFixed = ({ use, isRequired }: ClientField) => use.kind === 'constant' && isRequired && use.value !== ''

/** .NET matches a constructor's parameters with properties, and ignores the case of letters. */
export function propertyNames(fields: readonly ClientField[], owner: string): string[] {
  const names = fields.map(({ name }) => property(name))
  return distinct(names, 'Value', [owner, ...recordMembers], (name) => name.toLowerCase())
}

function membersOf(fields: readonly ClientField[], owner: string, { style }: CsharpSurface, isSent: boolean): Member[] {
  const names = propertyNames(fields, owner)
  return fields.map((field, place) => {
    const name = names[place] ?? ''
    const isNullSent = isSent && field.isRequired && field.use.kind === 'nullable'
    const attributes = [
      ...(styled(name, style) === field.name ? [] : [`JsonPropertyName(${JSON.stringify(field.name)})`]),
      ...(isNullSent ? ['JsonIgnore(Condition = JsonIgnoreCondition.Never)'] : []),
    ]
    return { field, name, attributes: attributes.join(', ') }
  })
}

function parameterOf({ field: { use, isRequired }, name, attributes }: Member, csharp: CsharpSurface, isSent: boolean) {
  const type = csharp.typeOf(use, isSent)
  const prefix = attributes === '' ? '' : `[property: ${attributes}] `
  if (isRequired) return `${prefix}${type} ${name}`
  if (isSent && use.kind === 'nullable') return `${prefix}Optional<${concrete(use.of, csharp)}?> ${name} = default`
  return `${prefix}${orNull(type)} ${name} = null`
}

/** No value converts to an Optional with an interface inside, so a list is an array here, and a map is a dictionary. */
function concrete(use: Use, csharp: CsharpSurface): string {
  if (use.kind === 'list') return `${csharp.typeOf(use.item, true)}[]`
  if (use.kind === 'map') return `Dictionary<string, ${csharp.typeOf(use.value, true)}>`
  return csharp.typeOf(use, true)
}

function fixedProperty({ field: { use }, name, attributes }: Member): string {
  const value = use.kind === 'constant' ? JSON.stringify(use.value) : ''
  return `${attributes === '' ? '' : `[${attributes}] `}public string ${name} => ${value};`
}

/** The fields that the contract does not name. */
function extraProperty(isSent: boolean): string {
  const type = isSent ? 'IDictionary<string, object?>' : 'IDictionary<string, JsonElement>'
  return `[JsonExtensionData] public ${type}? Extra { get; init; }`
}
