/**
 * Emits a table row for each kind of response (JSON, audio, text, event stream). The sync and the async client share
 * the rows.
 */
import type { ClientMethod, ClientOperation } from '../../clients/model.ts'
import { upperCase } from '../../clients/names.ts'
import { brackets, literal, tuple } from './print.ts'
import { eventName } from './types.ts'
import type { Uses } from './uses.ts'

export function emitRows(operations: readonly ClientOperation[], uses: Uses): string {
  return operations
    .flatMap((operation) => [
      emitParts(operation),
      ...operation.methods.map((method) => emitRow(operation, method, uses)),
    ])
    .join('')
}

const partsName = ({ id }: ClientOperation) => `_${upperCase(id)}_PARTS`

function emitParts(operation: ClientOperation): string {
  if (operation.body?.kind !== 'multipart') return ''
  const parts = operation.body.parts.map(({ name, kind }) => `(${literal(name)}, ${literal(kind)})`)
  return brackets(
    `${partsName(operation)}: Parts = (`,
    parts.map((part) => (parts.length === 1 ? `${part},` : part)),
    ')',
    '',
  )
}

/** Returns the name of the constant with a method's row. */
export const rowName = ({ name }: ClientMethod) => `_${upperCase(name)}`

function emitRow(operation: ClientOperation, method: ClientMethod, uses: Uses): string {
  const { body, streamSwitch, streamValue } = operation
  const { answer, mediaTypes, setsStream } = method
  const accept = mediaTypes.join(', ')
  const items = [literal(operation.method), literal(operation.path)]
  if (accept !== 'application/json') items.push(`accept=${literal(accept === '' ? '*/*' : accept)}`)
  if (!operation.needsKey) items.push('needs_key=False')
  if (operation.isIdempotent) items.push('is_idempotent=True')
  if (body) items.push(`body=${literal(body.kind)}`)
  if (body?.kind === 'multipart') items.push(`parts=${partsName(operation)}`)
  if (streamSwitch !== null && setsStream !== null)
    items.push(`sets=(${literal(streamSwitch)}, ${literal(setsStream && streamValue)})`)
  if (answer.kind !== 'json') items.push(`answer=${literal(answer.kind)}`)
  if (answer.kind === 'events' || answer.kind === 'data')
    items.push(`terminal=${tuple(answer.terminalEvents.map(literal))}`)
  if (answer.kind === 'events' && answer.identity !== null) {
    const fields = Object.entries(answer.identity).map(([event, field]) => `${literal(event)}: ${literal(field)}`)
    items.push(`identity={${fields.join(', ')}}`)
  }
  return brackets(`${rowName(method)}: Operation[${resultType(operation, method, uses)}] = Operation(`, items, ')', '')
}

/** Returns the response's type, or for a stream the event's type. */
export function resultType(operation: ClientOperation, { answer }: ClientMethod, uses: Uses): string {
  switch (answer.kind) {
    case 'none':
      return 'None'
    case 'text':
      return 'str'
    case 'bytes':
      return 'Audio'
    case 'events':
      return `types.${eventName(operation)}`
    case 'json':
    case 'data':
      return uses.print(answer.use, 'answered', 'types.')
  }
}
