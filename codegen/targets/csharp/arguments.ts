/** A method's arguments: the path, the body or a form's parts, the query and the headers. */
import type { ClientField, ClientOperation, ClientParameter, FormPart, Use } from '../../clients/model.ts'
import { pascalCase } from '../../clients/names.ts'
import { distinct } from '../../clients/scopes.ts'
import { describe } from '../../clients/texts.ts'
import { argument } from './names.ts'
import { type CsharpSurface, orNull } from './surface.ts'

/**
 * `call` is the engine's method that adds the value to the request, or null for the path. `wire` is the name in the
 * request, or null for a body.
 */
export type Argument = {
  place: 'path' | 'body' | 'named'
  name: string
  type: string
  isRequired: boolean
  call: string | null
  wire: string | null
  use: Use
  text: string
}

/** Each method ends with these arguments. */
export const lastArguments = {
  names: ['options', 'cancellationToken'],
  declared: ['CallOptions? options = null', 'CancellationToken cancellationToken = default'],
}

/** Returns all arguments in the request's order, and in the method's order: required arguments first. */
export function argumentsOf(
  operation: ClientOperation,
  csharp: CsharpSurface,
): { all: Argument[]; ordered: Argument[] } {
  const { parameters } = operation
  const given = [
    ...parameters.filter((parameter) => parameter.in === 'path').map((parameter) => named(parameter, null, csharp)),
    ...bodyArguments(operation, csharp),
    ...parameters
      .filter((parameter) => parameter.in !== 'path')
      .map((parameter) => named(parameter, callOf(parameter), csharp)),
  ]
  const names = distinct(
    given.map(({ name }) => name),
    'Value',
    lastArguments.names,
  )
  const all = given.map((each, place) => ({ ...each, name: names[place] ?? each.name }))
  return { all, ordered: [...all.filter(({ isRequired }) => isRequired), ...all.filter((each) => !each.isRequired)] }
}

export const declared = ({ type, name, isRequired }: Argument) =>
  isRequired ? `${type} ${name}` : `${orNull(type)} ${name} = null`

/** A switch for an event stream need not be given in a form, because the client sets it. */
function bodyArguments({ body, streamSwitch, methods }: ClientOperation, csharp: CsharpSurface): Argument[] {
  if (body === null) return []
  const plain = { place: 'body', name: 'body', wire: null, text: '' } as const
  const { isRequired } = body
  if (body.kind === 'bytes')
    return [{ ...plain, use: { kind: 'bytes' }, type: 'Upload', isRequired: true, call: 'Bytes' }]
  if (body.kind === 'json')
    return [{ ...plain, use: body.use, type: csharp.typeOf(body.use, true), isRequired, call: 'Json' }]
  const isSet = (part: FormPart) => part.name === streamSwitch && methods.every(({ setsStream }) => setsStream !== null)
  return body.parts.map((part) => ({
    ...named(part, `${pascalCase(part.kind)}Part`, csharp),
    ...(isSet(part) && { isRequired: false }),
  }))
}

function named(field: ClientField, call: string | null, csharp: CsharpSurface): Argument {
  const use = field.use.kind === 'nullable' ? field.use.of : field.use
  return {
    place: call === null ? 'path' : 'named',
    name: argument(field.name),
    type: call === null ? 'string' : csharp.typeOf(use, true),
    isRequired: call === null || field.isRequired,
    call,
    wire: field.name,
    use,
    text: describe(field),
  }
}

function callOf(parameter: ClientParameter): string {
  if (parameter.in === 'query') return 'Query'
  return parameter.isJson ? 'JsonHeader' : 'Header'
}
