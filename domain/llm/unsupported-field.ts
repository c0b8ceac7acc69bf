import type { LlmRequest } from '../ports/llm.ts'

export type RefusableField = keyof Pick<
  LlmRequest,
  'responseFormat' | 'toolChoice' | 'reasoningEffort' | 'temperature' | 'topP'
>

/**
 * The cause in a ProviderError `unsupported`: the request field that a model cannot take. A surface reports it to the
 * client under the field's name on its wire.
 */
export class UnsupportedField extends Error {
  readonly field: RefusableField

  constructor(field: RefusableField, reason: string) {
    super(reason)
    this.field = field
  }
}
