/** Emits the structs for an operation's parameters and for its multipart form. */
import type { ClientField, ClientOperation } from '../../clients/model.ts'
import { aligned, comment, type Row } from './format.ts'
import { distinct, exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { describe, describedRow } from './structs.ts'
import { goType, nilable } from './types.ts'

export const paramsName = (id: string) => `${exported(id)}Params`

/** The parameters in the query and in headers. Parameters in the path are the method's arguments. */
export function emitParams({ id, parameters }: ClientOperation, goPackage: GoPackage): string[] {
  const rows = parameters.flatMap((parameter): Row[] => {
    if (parameter.in === 'path') return []
    return [inputRow(parameter, parameter.in, parameter.isJson, goPackage)]
  })
  return rows.length === 0 ? [] : [emitInput(paramsName(id), `has the parameters of ${exported(id)}.`, rows)]
}

/** The form's parts go over the wire in the fields' order. */
export function emitForm({ id, body }: ClientOperation, goPackage: GoPackage): string[] {
  if (body?.kind !== 'multipart') return []
  const rows = body.parts.map((part) => inputRow(part, 'part', part.kind === 'json', goPackage, part.isList))
  return [emitInput(`${exported(id)}Form`, `is the form of ${exported(id)}, with its parts in order.`, rows)]
}

function emitInput(name: string, about: string, rows: readonly Row[]): string {
  const fields = rows.map((row) => row.cells[0] ?? '')
  const named = distinct(fields)
  const unique = rows.map((row, place) => ({ ...row, cells: [named[place] ?? '', ...row.cells.slice(1)] }))
  return `${comment(`${name} ${about}`)}type ${name} struct {\n${aligned(unique)}}`
}

function inputRow(field: ClientField, tag: string, isJson: boolean, goPackage: GoPackage, isList = false): Row {
  const { name, use, isRequired } = field
  const single = isRequired ? goType(use, goPackage) : nilable(use, goPackage)
  const type = isList && use.kind !== 'list' ? `[]${goType(use, goPackage)}` : single
  const options = [name, ...(isJson ? ['json'] : []), ...(isRequired ? ['required'] : [])].join(',')
  return describedRow([exported(name.replace(/^x-/i, '')), type, `\`${tag}:"${options}"\``], describe(field))
}
