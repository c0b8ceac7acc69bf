import type { LlmRequest } from '../ports/llm.ts'

export type RefusableField = keyof Pick<
  LlmRequest,
  'responseFormat' | 'toolChoice' | 'reasoningEffort' | 'temperature' | 'topP'
>

/**
 * The cause of a ProviderError `unsupported`: a request field that the model does not accept. Each API reports the
 * field to its clients under the name from the API's protocol.
 */
export class UnsupportedField extends Error {
  readonly field: RefusableField

  constructor(field: RefusableField, reason: string) {
    super(reason)
    this.field = field
  }
}
