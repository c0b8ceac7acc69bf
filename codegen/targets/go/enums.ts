/** Emits enums as string types with constants. A string that the contract does not list is a valid value too. */
import type { EnumDeclaration } from '../../clients/model.ts'
import { aligned, goFile, type Row } from './format.ts'
import { exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { describedRow } from './structs.ts'

export function emitEnums(goPackage: GoPackage): string | null {
  const enums = goPackage.surface.declarations.filter((declaration) => declaration.kind === 'enum')
  if (enums.length === 0) return null
  const firsts = new Map<string, EnumDeclaration>()
  for (const declaration of enums)
    if (!firsts.has(valuesKey(declaration))) firsts.set(valuesKey(declaration), declaration)
  const types = enums.map((declaration) => typeRow(declaration, firsts.get(valuesKey(declaration)), goPackage))
  const constants = [...firsts.values()].map((declaration) => constantRows(declaration, goPackage))
  return goFile('enums', goPackage.surface, [`type (\n${aligned(types)})`, `const (\n${aligned(constants.flat())})`])
}

const valuesKey = ({ values }: EnumDeclaration) => JSON.stringify(values.toSorted())

/** An enum with the same values as an earlier enum is its alias, and shares the constants. */
function typeRow(declaration: EnumDeclaration, first: EnumDeclaration | undefined, goPackage: GoPackage): Row {
  const { name, description } = declaration
  const isFirst = first === undefined || first === declaration
  const type = isFirst ? 'string' : `= ${goPackage.goName(first.name)}`
  return describedRow([goPackage.goName(name), type], description)
}

function constantRows({ name, values }: EnumDeclaration, goPackage: GoPackage): Row[] {
  const type = goPackage.goName(name)
  return values.map((value) => ({
    cells: [goPackage.names.take(type + constantName(value), 'Value'), type, `= ${JSON.stringify(value)}`],
  }))
}

const constantName = (value: string) => (value === '' ? 'Empty' : exported(value).replace(/^N(?=\d)/, ''))
