/** Declares the classes for an operation's parameters, and for its multipart form. */
import type { ClientField, ClientOperation } from '../../clients/model.ts'
import type { Member } from './members.ts'
import { emitClass, memberList } from './objects.ts'
import type { JavaSurface } from './surface.ts'

export const paramsName = (id: string) => `${id}Params`
export const formName = (id: string) => `${id}Form`

/** The parameters in the query and in headers. Parameters in the path are the method's arguments. */
export const namedParameters = ({ parameters }: ClientOperation) =>
  parameters.filter((parameter) => parameter.in !== 'path')

export function emitInputs(operation: ClientOperation, java: JavaSurface): string[] {
  const { id, body } = operation
  const params = namedParameters(operation)
  return [
    ...(params.length > 0 ? [emitInput(paramsName(id), `The parameters of ${id}.`, params, java)] : []),
    ...(body?.kind === 'multipart' ? [emitInput(formName(id), `The form of ${id}.`, body.parts, java)] : []),
  ]
}

function emitInput(declared: string, about: string, fields: readonly ClientField[], java: JavaSurface): string {
  const name = java.names.take(declared)
  return emitClass({ name, about, members: inputMembers(fields, java), isReceived: false }, java)
}

/** An input is not JSON, so its fields have no annotations, and are absent instead of null. */
export function inputMembers(fields: readonly ClientField[], java: JavaSurface): Member[] {
  const plain = fields.map((field) => ({ ...field, use: field.use.kind === 'nullable' ? field.use.of : field.use }))
  return memberList(plain, java, false).map((member) => ({ ...member, annotations: [] }))
}
