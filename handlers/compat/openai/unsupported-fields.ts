/**
 * Adds the field's name to an error. Only an attempt shows that a model does not support a field, so the error comes
 * from the domain, without the body's field names.
 */
import { type RefusableField, UnsupportedField } from '../../../domain/llm/unsupported-field.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import { Fault } from '../../../domain/records/fault.ts'
import { Untranslatable } from './chat-request.ts'

/** For each refusable field, its JSON pointer into one operation's body. */
type Pointers = Readonly<Record<RefusableField, string>>

export const chatPointers: Pointers = {
  responseFormat: '/response_format',
  toolChoice: '/tool_choice',
  reasoningEffort: '/reasoning_effort',
  temperature: '/temperature',
  topP: '/top_p',
}

export const responsePointers: Pointers = {
  ...chatPointers,
  responseFormat: '/text/format',
  reasoningEffort: '/reasoning/effort',
}

/** Returns a handler for rejections. It throws the same error, or a Fault that names the field. */
export function rethrownWith(pointers: Pointers): (error: unknown) => never {
  return (error) => {
    throw error instanceof Fault ? named(error, pointers) : error
  }
}

function named(fault: Fault, pointers: Pointers): Fault {
  const failure = fault.detail.cause
  if (fault.kind !== 'all_unsupported' || !(failure instanceof ProviderError)) return fault
  const field = pointerOf(failure.cause, pointers)
  return field === null ? fault : new Fault({ kind: 'field_unsupported', field }, fault.detail)
}

function pointerOf(cause: unknown, pointers: Pointers): string | null {
  if (cause instanceof Untranslatable) return cause.field
  return cause instanceof UnsupportedField ? pointers[cause.field] : null
}
