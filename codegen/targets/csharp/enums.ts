/** Emits enums as records, which keep strings outside the contract. */
import { filled, widthMax } from '../../clients/layout.ts'
import type { EnumDeclaration } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { property, recordMembers } from './names.ts'
import { documentation } from './print.ts'
import type { CsharpSurface } from './surface.ts'

export function emitEnum(declaration: EnumDeclaration, csharp: CsharpSurface): string {
  const { name: declared, description, values } = declaration
  const name = csharp.nameOf(declared)
  const names = constantsOf(declaration, name)
  const constants = values.map((value, place) => `${names[place]} = new(${JSON.stringify(value)})`)
  const ended = constants.map((constant, place) => `${constant}${place < values.length - 1 ? ',' : '; }'}`)
  const bases = csharp.basesOf(name, ['OpenEnum(Value)'])
  const head = `public sealed record ${name}(string Value)${bases} { public static readonly ${name}`
  return `${documentation(description, [], '')}${filled([head, ...ended], ' ', widthMax - 4).join('\n    ')}\n`
}

/** Returns the constants' names. `owner` is the record's name, which no constant may have. */
export const constantsOf = ({ values }: EnumDeclaration, owner: string) =>
  distinct(values.map(property), 'Value', [owner, 'Value', ...recordMembers])
