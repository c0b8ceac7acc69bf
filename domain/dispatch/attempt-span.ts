/**
 * Makes an attempt's trace span, with the attribute names from OpenTelemetry's semantic conventions for generative AI.
 * The conventions have no names for speech, so we name speech operations and quantities ourselves.
 */
import type { Quantity } from '../billing/ledger.ts'
import type { Stage } from '../ports/model.ts'
import type { Attempt } from './attempt.ts'
import type { DispatchDeps, RequestContext } from './request.ts'

/**
 * How an attempt ended. `firstByteMs` is null if no media arrived or if the answer was not a stream. `answeredModel` is
 * null if no answer named its model.
 */
type Ended = {
  stage: Stage
  outcome: string
  firstByteMs: number | null
  answeredModel: string | null
  quantities: readonly Quantity[]
}

const operations: Readonly<Record<Stage, string>> = { llm: 'chat', tts: 'text_to_speech', stt: 'speech_to_text' }

export function recordAttempt(
  { conventionNames: names = {} }: Pick<DispatchDeps, 'conventionNames'>,
  attempt: Attempt,
  context: RequestContext,
  ended: Ended,
): void {
  const { trace, row, attemptId, startedMs } = attempt
  if (trace === null) return
  const { stage, outcome, firstByteMs, answeredModel, quantities } = ended
  const [operation, model] = [operations[stage], row.model.id]
  trace.record({
    name: `${operation} ${model}`,
    kind: 'client',
    startedMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': names[row.provider.id] ?? row.provider.id,
      'gen_ai.request.model': model,
      'gen_ai.response.model': answeredModel ?? undefined,
      'gen_ai.conversation.id': context.callId,
      'gen_ai.response.time_to_first_chunk': firstByteMs === null ? undefined : firstByteMs / 1000,
      ...usageOf(quantities),
      'parley.attempt.id': attemptId,
      'parley.request.id': context.requestId,
      'parley.outcome': outcome,
    },
    ...(outcome !== 'succeeded' && { failure: outcome }),
  })
}

/**
 * Adds up the usage. Our quantities count each token once. In the conventions, the input count includes cached tokens,
 * and the output count includes reasoning tokens.
 */
function usageOf(quantities: readonly Quantity[]): Record<string, number> {
  const usage: Record<string, number> = {}
  for (const { unit, amount } of quantities) {
    const { part, whole } = usageOfUnit[unit] ?? { part: `parley.usage.${unit}` }
    if (part !== undefined) usage[part] = amount
    if (whole !== undefined) usage[whole] = (usage[whole] ?? 0) + amount
  }
  return usage
}

const [input, output] = ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens']
const usageOfUnit: Readonly<Record<string, { part?: string; whole?: string }>> = {
  input_tokens: { whole: input },
  cached_input_tokens: { part: 'gen_ai.usage.cache_read.input_tokens', whole: input },
  output_tokens: { whole: output },
  reasoning_tokens: { part: 'gen_ai.usage.reasoning.output_tokens', whole: output },
}
