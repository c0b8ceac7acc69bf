/**
 * Emits objects. If only the server sends an object, it is a record. An object in a request is a class with setters,
 * because most fields are optional.
 */
import { brackets } from '../../clients/layout.ts'
import type { ClientField, ObjectDeclaration } from '../../clients/model.ts'
import { describe } from '../../clients/texts.ts'
import { emitFields, emitMember, type Member } from './members.ts'
import { styled } from './names.ts'
import { javadoc } from './print.ts'
import { componentNames, type JavaSurface } from './surface.ts'

const indent = '    '

export function emitObject(object: ObjectDeclaration, java: JavaSurface): string {
  const isReceived = java.directions.isReceived(object.name)
  const name = java.nameOf(object.name)
  if (java.directions.isSent(object.name))
    return emitClass(
      { name, about: object.description, members: membersOf(object, java, isReceived), isReceived },
      java,
    )
  return emitRecord(name, object, java)
}

function emitRecord(name: string, { fields, rest, description }: ObjectDeclaration, java: JavaSurface): string {
  const names = componentNames(fields)
  const tags = fields.flatMap((field, place) => {
    const text = describe(field)
    return text === '' ? [] : [`@param ${names[place]} ${text}`]
  })
  const components = fields.map((field, place) => {
    const type = field.isRequired ? java.typeOf(field.use, true) : java.boxedType(field.use, true)
    return [...annotationsOf(field, names[place] ?? '', java), type, names[place]].join(' ')
  })
  if (rest !== null) components.push(`@JsonAnySetter Map<String, ${java.boxedType(rest, true)}> extra`)
  const head = brackets(`public record ${name}(`, components, `)${implemented(name, java)} {}`, indent)
  return javadoc(description, tags, indent) + head
}

type ClassParts = { name: string; about: string; members: readonly Member[]; isReceived: boolean }

/** Prints a class with setters. If the server sends the class too, it also has getters. */
export function emitClass({ name, about, members, isReceived }: ClassParts, java: JavaSurface): string {
  const methods = members.map((member) => emitMember(member, name, isReceived)).join('')
  const head = `${indent}public static final class ${name}${implemented(name, java)} {`
  const body = members.length === 0 ? '}\n' : `\n${emitFields(members)}${methods}${indent}}\n`
  return `${javadoc(about, [], indent)}${head}${body}`
}

function implemented(name: string, java: JavaSurface): string {
  const interfaces = java.interfacesOf(name)
  return interfaces.length > 0 ? ` implements ${interfaces.join(', ')}` : ''
}

function membersOf({ fields, rest }: ObjectDeclaration, java: JavaSurface, isReceived: boolean): Member[] {
  const members = memberList(fields, java, isReceived)
  if (rest === null) return members
  const type = `Map<String, ${java.boxedType(rest, isReceived)}>`
  const extra = { name: 'extra', type, parameter: type, stored: 'value', constant: null }
  const text = 'Sets the fields that the contract does not name.'
  return [...members, { ...extra, annotations: ['@JsonAnyGetter', '@JsonAnySetter'], text }]
}

export function memberList(fields: readonly ClientField[], java: JavaSurface, isReceived: boolean): Member[] {
  const names = componentNames(fields)
  return fields.map((field, place) => memberOf(field, names[place] ?? '', java, isReceived))
}

function memberOf(field: ClientField, name: string, java: JavaSurface, isReceived: boolean): Member {
  const { use, isRequired } = field
  const inner = use.kind === 'nullable' ? use.of : use
  const hasNull = use.kind === 'nullable'
  const isOpen = isReceived && (java.isEnum(inner) || (inner.kind === 'list' && java.isEnum(inner.item)))
  const plain = isOpen ? 'Open.of(value)' : 'value'
  const isNullable = hasNull && !isRequired
  const stored = isRequired ? java.typeOf(use, isReceived) : java.boxedType(use, isReceived)
  return {
    name,
    type: isNullable ? `Nullable<${stored}>` : stored,
    parameter: hasNull ? java.boxedType(inner, false) : java.typeOf(use, isReceived && !isOpen),
    stored: isNullable ? `Nullable.of(${plain})` : plain,
    constant: use.kind === 'constant' && isRequired && use.value !== '' ? use.value : null,
    annotations: [...annotationsOf(field, name, java), ...(hasNull && isRequired ? ['@JsonInclude'] : [])],
    text: describe(field),
  }
}

const annotationsOf = (field: ClientField, name: string, { style }: JavaSurface) =>
  styled(name, style) === field.name ? [] : [`@JsonProperty(${JSON.stringify(field.name)})`]
