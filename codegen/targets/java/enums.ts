/** Emits enums. Responses wrap an enum in the class Open, which keeps strings that the contract does not list. */
import { brackets } from '../../clients/layout.ts'
import type { EnumDeclaration } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { constant } from './names.ts'
import { javadoc } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '

/** Returns the constants' names. */
export const constantsOf = ({ values }: EnumDeclaration) => distinct(values.map(constant), 'Alias')

export function emitEnum(declaration: EnumDeclaration, java: JavaSurface): string {
  const { description, values } = declaration
  const name = java.nameOf(declaration.name)
  const interfaces = java.interfacesOf(name)
  const implemented = interfaces.length > 0 ? ` implements ${interfaces.join(', ')}` : ''
  const names = constantsOf(declaration)
  const constants = values.map((value, place) => {
    const text = names[place] ?? ''
    return text.toLowerCase() === value ? text : `@JsonProperty(${JSON.stringify(value)}) ${text}`
  })
  return javadoc(description, [], indent) + brackets(`public enum ${name}${implemented} { `, constants, ' }', indent)
}
