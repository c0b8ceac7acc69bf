import type { LlmRequest } from '../ports/llm.ts'

export type RefusableField = keyof Pick<
  LlmRequest,
  'responseFormat' | 'toolChoice' | 'reasoningEffort' | 'temperature' | 'topP'
>

/**
 * The field of a request that a model cannot take, as the cause of a ProviderError `unsupported`. A surface tells the
 * client the name that the field has on its wire.
 */
export class UnsupportedField extends Error {
  readonly field: RefusableField

  constructor(field: RefusableField, reason: string) {
    super(reason)
    this.field = field
  }
}
