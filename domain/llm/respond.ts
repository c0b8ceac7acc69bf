import type { Capability } from '../catalog/model.ts'
import { deliver } from '../dispatch/deliver.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import { begin, follow } from '../dispatch/follow.ts'
import type { DispatchDeps, Plan, RequestContext, Route } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import type { ProviderPorts } from '../ports/provider.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'
import type { Routing } from '../routing/routing.ts'
import { AnswerAssembler, AssemblyError, type OutputItem, type RespondEvent, type RespondUsage } from './answer.ts'
import type { Llm, LlmAnswer, LlmEvent, LlmRequest, LlmUsage, StopReason } from './llm.ts'
import { quantitiesOf, soFar, worstCase } from './tokens.ts'

export type RespondOrder = RequestContext & {
  routing: Routing
  /** Only routes: a model is told its language by its prompt. */
  language?: string
  request: Omit<LlmRequest, 'model'>
}

export type Answer = { output: OutputItem[]; stopReason: StopReason; route: Route; usage: RespondUsage }

/** `events` is to be read once: `created` first, `completed` last, or it throws a Fault. */
export type AnswerStream = { route: Route; events: AsyncIterable<RespondEvent> }

export type Respond = {
  (order: RespondOrder & { stream: false }): Promise<Answer>
  /** Resolves when the first token has come, failing over until then. */
  (order: RespondOrder & { stream: true }): Promise<AnswerStream>
}

/** Both forms throw Fault. */
export function createRespond(deps: DispatchDeps): Respond {
  function respond(order: RespondOrder & { stream: false }): Promise<Answer>
  function respond(order: RespondOrder & { stream: true }): Promise<AnswerStream>
  function respond(order: RespondOrder & { stream: boolean }): Promise<Answer | AnswerStream> {
    return order.stream ? respondInStream(deps, order) : respondAtOnce(deps, order)
  }
  return respond
}

async function respondAtOnce(deps: DispatchDeps, order: RespondOrder): Promise<Answer> {
  const exchange = await dispatchRequest(deps, order, planOf(order, false, answerAt(order)))
  const { answer, output } = exchange.value
  const costMicroUsd = exchange.succeed(quantitiesOf(answer.usage))
  // The tokens were spent and are billed; only what came of them cannot be shown as JSON.
  if (output === null) throw truncatedJson(order)
  return { output, stopReason: answer.stopReason, route: exchange.route, usage: { costMicroUsd, ...answer.usage } }
}

async function respondInStream(deps: DispatchDeps, order: RespondOrder): Promise<AnswerStream> {
  const exchange = await dispatchRequest(deps, order, planOf(order, true, streamAt(order, deps.limits.llm.idleMs)))
  const assembler = new AnswerAssembler(isStructured(order))
  const events = deliver(exchange, eventsOf(exchange, assembler, order), {
    done: () => undefined,
    // A reader who leaves has had what was written so far; the provider never says how much that was.
    owed: (error) => (isCancelled(error) ? soFar(order.request, assembler.characters) : []),
  })
  return { route: exchange.route, events }
}

function planOf<T>(order: RespondOrder, stream: boolean, run: Plan<T>['run']): Plan<T> {
  return { ask: askOf(order, stream), atOnce: !stream, worstCase: () => worstCase(order.request), run }
}

function askOf({ caller, routing, language, request }: RespondOrder, stream: boolean): Ask {
  const needs: Capability[] = []
  if (stream) needs.push('streaming')
  if (request.tools.length > 0) needs.push('tools')
  if (request.responseFormat) needs.push('structured_output')
  if (request.reasoningEffort !== undefined) needs.push('reasoning')
  return baseAsk(caller, 'llm', routing, language, needs)
}

type Assembled = { answer: LlmAnswer; output: OutputItem[] | null }

/** `output` is null when structured output was cut off by the token limit: no other model would do better with that limit. */
function answerAt(order: RespondOrder): Plan<Assembled>['run'] {
  return async (row, call, ports) => {
    // Written first: V8 builds an object anew for each field that follows a spread.
    const answer = await llmOf(ports).respond({ model: row.model.id, ...order.request }, call)
    if (answer.text === '' && answer.calls.length === 0) refuseNothing(answer.stopReason, answer.usage)
    return { answer, output: assembled(answer, isStructured(order)) }
  }
}

function assembled(answer: LlmAnswer, structured: boolean): OutputItem[] | null {
  const assembler = new AnswerAssembler(structured)
  assembler.push({ type: 'text', delta: answer.text })
  for (const [index, call] of answer.calls.entries()) {
    assembler.push({ type: 'call', index, callId: call.callId, name: call.name })
    assembler.push({ type: 'arguments', index, delta: call.arguments })
  }
  try {
    return assembler.finish(answer.stopReason)
  } catch (error) {
    if (error instanceof AssemblyError && error.truncated) return null
    throw new ProviderError('protocol', { sent: true, cause: error })
  }
}

function streamAt(order: RespondOrder, idleMs: number): Plan<AsyncIterable<LlmEvent>>['run'] {
  return async (row, call, ports) => {
    const events = begin(call, llmOf(ports).stream({ model: row.model.id, ...order.request }, call))
    const first = await events.next()
    if (first.done) throw new ProviderError('empty', { sent: true })
    if (first.value.type === 'end') refuseNothing(first.value.stopReason, first.value.usage)
    return follow(call, first.value, events, idleMs)
  }
}

/** A model may say nothing; one that spent no token on it has not answered. Reasoning that used up the limit is an answer. */
function refuseNothing(stopReason: StopReason, usage: LlmUsage): void {
  if (stopReason !== 'max_output_tokens' && usage.outputTokens + usage.reasoningTokens === 0)
    throw new ProviderError('empty', { sent: true })
}

async function* eventsOf(
  exchange: DispatchedRequest<AsyncIterable<LlmEvent>>,
  assembler: AnswerAssembler,
  order: RespondOrder,
): AsyncGenerator<RespondEvent, void> {
  yield { type: 'created' }
  for await (const event of exchange.value) {
    if (event.type === 'end') return yield* ending(exchange, assembler, order, event)
    yield* push(assembler, event)
  }
  throw new ProviderError('protocol', { sent: true, cause: new Error('the stream ended without its end') })
}

function push(assembler: AnswerAssembler, event: Exclude<LlmEvent, { type: 'end' }>): RespondEvent[] {
  try {
    return assembler.push(event)
  } catch (cause) {
    throw new ProviderError('protocol', { sent: true, cause })
  }
}

/** The exchange is settled before its last events go out, because the last one says what it cost. */
function ending(
  exchange: DispatchedRequest<unknown>,
  assembler: AnswerAssembler,
  order: RespondOrder,
  { stopReason, usage }: Extract<LlmEvent, { type: 'end' }>,
): RespondEvent[] {
  const output = finished(exchange, assembler, order, stopReason, usage)
  const costMicroUsd = exchange.succeed(quantitiesOf(usage), { firstByteMs: exchange.elapsedMs })
  return [
    ...output.map((item, index): RespondEvent => ({ type: 'itemCompleted', index, item })),
    { type: 'completed', stopReason, usage: { costMicroUsd, ...usage } },
  ]
}

function finished(
  exchange: DispatchedRequest<unknown>,
  assembler: AnswerAssembler,
  order: RespondOrder,
  stopReason: StopReason,
  usage: LlmUsage,
): OutputItem[] {
  try {
    return assembler.finish(stopReason)
  } catch (cause) {
    if (!(cause instanceof AssemblyError && cause.truncated)) throw new ProviderError('protocol', { sent: true, cause })
    exchange.succeed(quantitiesOf(usage))
    throw truncatedJson(order)
  }
}

function truncatedJson(order: RespondOrder): Fault {
  return new Fault('provider_error', {
    message: 'The answer reached max_output_tokens before its JSON was complete.',
    hint: 'Raise max_output_tokens and send the request with a new Idempotency-Key.',
    ...(order.key && { afterDispatch: true }),
  })
}

function llmOf({ llm }: ProviderPorts): Llm {
  if (!llm) throw new ProviderError('unsupported', { sent: false })
  return llm
}

function isStructured({ request }: RespondOrder): boolean {
  return request.responseFormat !== undefined
}

function isCancelled(error: unknown): boolean {
  return !(error instanceof ProviderError) || error.errorClass === 'cancelled'
}
