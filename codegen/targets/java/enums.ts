/** Emits enums. Responses wrap an enum in the class Open, which keeps strings that the contract does not list. */
import type { EnumDeclaration } from '../../clients/model.ts'
import { constant, distinct } from './names.ts'
import { brackets, javadoc } from './print.ts'
import type { JavaSurface } from './surface.ts'

const indent = '    '

export function emitEnum({ name: declared, description, values }: EnumDeclaration, java: JavaSurface): string {
  const name = java.nameOf(declared)
  const interfaces = java.interfacesOf(name)
  const implemented = interfaces.length > 0 ? ` implements ${interfaces.join(', ')}` : ''
  const names = distinct(values.map(constant))
  const constants = values.map((value, place) => {
    const text = names[place] ?? ''
    return text.toLowerCase() === value ? text : `@JsonProperty(${JSON.stringify(value)}) ${text}`
  })
  return javadoc(description, [], indent) + brackets(`public enum ${name}${implemented} { `, constants, ' }', indent)
}
