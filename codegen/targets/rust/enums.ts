/** Emits enums that keep strings from later versions of the server. */
import type { EnumDeclaration } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { braces, documentation, rustFile } from './format.ts'
import type { RustModule } from './module.ts'
import { variant } from './names.ts'

export function emitEnums(module: RustModule): string | null {
  const enums = module.surface.declarations.filter((declaration) => declaration.kind === 'enum')
  if (enums.length === 0) return null
  const firsts = new Map<string, EnumDeclaration>()
  for (const declaration of enums)
    if (!firsts.has(valuesKey(declaration))) firsts.set(valuesKey(declaration), declaration)
  const printed = [...firsts.values()].map((declaration) => emitEnum(declaration, module))
  const aliases = enums.flatMap((declaration) => emitAlias(declaration, firsts.get(valuesKey(declaration)), module))
  const all = [`open_enums! {\n${printed.join('\n')}\n}`, ...(aliases.length > 0 ? [aliases.join('\n')] : [])]
  return rustFile('enums', module.surface.file, '', all)
}

const valuesKey = ({ values }: EnumDeclaration) => JSON.stringify(values.toSorted())

/** Returns the variants' names. */
export const variantsOf = ({ values }: EnumDeclaration) => distinct(values.map(variant), 'Value', ['Unknown'])

function emitEnum(declaration: EnumDeclaration, module: RustModule): string {
  const { name, description, values } = declaration
  const variants = variantsOf(declaration)
  const rows = values.map((value, place) => `${variants[place]} = ${JSON.stringify(value)}`)
  return documentation(description, '    ') + braces(module.nameOf(name), rows, '    ')
}

/** An enum with the same values as an earlier enum is its alias. */
function emitAlias(declaration: EnumDeclaration, first: EnumDeclaration | undefined, module: RustModule): string[] {
  if (first === undefined || first === declaration) return []
  const doc = documentation(declaration.description)
  return [`${doc}pub type ${module.nameOf(declaration.name)} = ${module.nameOf(first.name)};`]
}
