/** Emits the fields and the methods of a class for requests. */
import { filled, widthMax } from '../../clients/layout.ts'
import { javadoc } from './print.ts'

/** One field and its setter. The setter stores the expression `stored`, in which `value` is the parameter. */
export type Member = {
  name: string
  type: string
  parameter: string
  stored: string
  /** The field's value, if it is a constant string. Then there is no setter. Null for all other fields. */
  constant: string | null
  annotations: readonly string[]
  text: string
}

const indent = '        '

/** Fields with the same type and without annotations share a declaration. */
export function emitFields(members: readonly Member[]): string {
  const byType = new Map<string, string[]>()
  for (const { type, name, annotations, constant } of members) {
    const prefix = [...annotations, ...(constant === null ? [] : ['final']), type].join(' ')
    const declared = constant === null ? name : `${name} = ${JSON.stringify(constant)}`
    byType.set(prefix, [...(byType.get(prefix) ?? []), declared])
  }
  const declarations = [...byType].map(([type, names]) => `${type} ${names.join(', ')};`)
  return filled(declarations, ' ', widthMax - indent.length)
    .flatMap((line) => filled(line.split(/(?<=,) /), ' ', widthMax - indent.length))
    .map((line) => `${indent}${line}\n`)
    .join('')
}

export function emitMember(member: Member, owner: string, isReceived: boolean): string {
  const { name, type } = member
  const getter = isReceived ? `${indent}public ${type} ${name}() { return ${name}; }\n` : ''
  const setter = member.constant === null ? emitSetter(member, owner) : ''
  return javadoc(member.constant === null || isReceived ? member.text : '', [], indent) + setter + getter
}

function emitSetter({ name, parameter, stored }: Member, owner: string): string {
  const header = `public ${owner} ${name}(${parameter} value)`
  const field = name === 'value' ? 'this.value' : name
  const oneLine = `${indent}${header} { ${field} = ${stored}; return this; }\n`
  if (oneLine.length - 1 <= widthMax) return oneLine
  return `${indent}${header} {\n${indent}    ${field} = ${stored};\n${indent}    return this;\n${indent}}\n`
}
