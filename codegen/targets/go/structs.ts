/** Emits objects as structs. */
import type { ClientField, ObjectDeclaration } from '../../clients/model.ts'
import { aligned, comment, documentation, goFile, oneLine, type Row } from './format.ts'
import { emitJson } from './json.ts'
import { distinct, exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { constantType, fieldType, goType } from './types.ts'

/** A description up to this length is printed after its field, and a longer description above its field. */
const trailingMax = 160

export function emitStructs(goPackage: GoPackage): string {
  const objects = goPackage.surface.declarations.filter((declaration) => declaration.kind === 'object')
  const structs = objects.map((object) => emitStruct(object, goPackage))
  return goFile('structs', goPackage.surface, [...structs, ...emitConstants(constants(objects, goPackage))])
}

function emitStruct(object: ObjectDeclaration, goPackage: GoPackage): string {
  const name = goPackage.goName(object.name)
  const rows = fieldRows(object, goPackage)
  const doc = documentation(name, object.description)
  const body = rows.length === 0 ? `type ${name} struct{}` : `type ${name} struct {\n${aligned(rows)}}`
  const methods = emitJson(object, goPackage).join('\n')
  return methods === '' ? `${doc}${body}` : `${doc}${body}\n\n${methods}`
}

function fieldRows(object: ObjectDeclaration, goPackage: GoPackage): Row[] {
  const names = distinct(object.fields.map(({ name }) => exported(name)))
  const rows = object.fields.map((field, place) => {
    const { type, tag } = fieldType(field, object.name, goPackage)
    return describedRow([names[place] ?? '', type, `\`json:"${tag}"\``], describe(field))
  })
  if (object.rest === null) return rows
  const extra = ['Extra', `map[string]${goType(object.rest, goPackage)}`, '`json:"-"`']
  return [...rows, { cells: extra, trailing: 'Fields that the contract does not name.' }]
}

/** A row with its description at the line's end, or above if the description is long. */
export function describedRow(cells: readonly string[], description: string): Row {
  const isLong = description.length > trailingMax || description.startsWith('Deprecated:')
  return isLong ? { cells, above: comment(description, '\t') } : { cells, trailing: description.trim() }
}

export function describe({ description, fallback, isDeprecated }: ClientField): string {
  const text = description.replace(/\s+/g, ' ').trim()
  const isComplete = fallback === undefined || text.includes('default')
  const all = isComplete ? text : `${text} The default is ${JSON.stringify(fallback)}.`.trim()
  return isDeprecated ? `Deprecated: ${all || 'see the contract.'}` : all
}

/** Returns all constant strings, such as `type`, in objects that a client sends. */
function constants(objects: readonly ObjectDeclaration[], goPackage: GoPackage): string[] {
  const texts = objects
    .filter(({ name }) => goPackage.isSent(name))
    .flatMap(({ fields }) => fields)
    .flatMap(({ use, isRequired }) => (use.kind === 'constant' && isRequired && use.value !== '' ? [use.value] : []))
  return [...new Set(texts)].sort()
}

/** Declares a type for each constant string. The type writes the string, so calling code need not set the field. */
function emitConstants(values: readonly string[]): string[] {
  if (values.length === 0) return []
  const types = values.map((value) => ({ cells: [constantType(value), 'string'] }))
  const methods = values.map((value) => {
    const header = `func (c ${constantType(value)}) MarshalJSON() ([]byte, error)`
    return oneLine(header, `return wire.Constant(c, ${JSON.stringify(value)})`)
  })
  return [`type (\n${aligned(types)})`, ...methods]
}
