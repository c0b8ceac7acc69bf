/**
 * The only operation over language models: it plans a request, dispatches it, passes the answer on and settles it. It
 * contains no protocol. Each API passes in a translation between its wire format and the domain's requests, answers
 * and events:
 *
 *   input ──► requestOf ──► provider ──► answerOf (whole) or reader (streamed) ──► the API
 *
 * If a provider speaks the client's protocol itself, the client's body and the provider's answer are passed on without
 * translation: `passThrough`.
 */
import type { Quantity } from '../billing/ledger.ts'
import type { AttemptSignal } from '../dispatch/attempt-signal.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import { begin } from '../dispatch/provider-stream.ts'
import type { DispatchDeps, Plan, RequestContext, Route } from '../dispatch/request.ts'
import type {
  Llm,
  LlmAnswer,
  LlmEvent,
  LlmRequest,
  LlmUsage,
  PassThrough,
  PassThroughAnswer,
  PassThroughPart,
  PassThroughRequest,
  StopReason,
} from '../ports/llm.ts'
import type { Capability } from '../ports/model.ts'
import type { ProviderPorts } from '../ports/provider.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { Fault } from '../records/fault.ts'
import type { Routing } from '../routing/ask.ts'
import { baseAsk } from '../routing/ask.ts'
import { AnswerEvents, type AnswerReader, type BegunStream, type Settle, settleStream } from './answer-events.ts'
import { quantitiesOf } from './tokens.ts'

/** The input fields that all APIs share. */
export type GenerateInput = RequestContext & {
  routing: Routing
  /** Used for routing only, because a model learns the language from its prompt. */
  language?: string
}

export interface Translation<Input extends GenerateInput, Answer, Event> {
  /** Limits how many candidates a stream's request may be sent to. If absent, there is no limit. */
  readonly streamSendsMax?: number
  /** The events that begin each stream. */
  readonly opening: readonly Event[]
  /** The error class if a provider's event stream ends before its first event. */
  readonly emptyStream: 'empty' | 'protocol'
  /** Returns the capabilities that a model needs for the request, besides `streaming`. */
  needs(input: Input): Capability[]
  /** Returns the request's maximum consumption, for the credit reservation. */
  worstCase(input: Input): Quantity[]
  /**
   * Returns true if the request may have an empty answer, for example because of stop words. If absent, an empty answer
   * is always a failure.
   */
  mayBeEmpty?(input: Input): boolean
  /**
   * Estimates the consumption for a stream if its reader stopped after `characters`, because the provider has not
   * counted it.
   */
  soFar(input: Input, characters: number): Quantity[]
  /**
   * Translates the request. Throws ProviderError `unsupported` if LlmRequest cannot express it. Then the next candidate
   * is tried.
   */
  requestOf(model: string, input: Input, llm: Llm): LlmRequest
  /**
   * Returns the names of the input fields that `requestOf` leaves out for this model. Absent if it leaves out no
   * fields.
   */
  ignored?(model: string, input: Input, llm: Llm): readonly string[]
  /**
   * Translates a whole answer. Throws a ProviderError if another candidate may answer successfully. Returns a Fault if
   * the answer is billed anyway.
   */
  answerOf(answer: LlmAnswer, input: Input): Answer | Fault
  /**
   * Makes a reader for a streamed answer. The reader may call `settle` with the final counts to get the cost before the
   * last events are sent.
   */
  reader(input: Input, route: Route, settle: Settle): AnswerReader<LlmEvent, Event>
  /** Present if some providers speak this API's protocol themselves. */
  readonly passThrough?: PassThroughTranslation<Input, Answer, Event>
}

export interface PassThroughTranslation<Input, Answer, Event> {
  portOf(llm: Llm): PassThrough | undefined
  requestOf(model: string, input: Input): PassThroughRequest
  answerOf(answer: PassThroughAnswer): Answer
  reader(input: Input, route: Route): AnswerReader<PassThroughPart, Event>
}

/** `ignored` names the input fields left out for the model. */
export type Generated<Answer> = {
  route: Route
  answer: Answer
  costMicroUsd: number | null
  ignored: readonly string[]
}
/** A streamed answer. `events` can be read once. If the provider breaks off, the iteration throws a Fault. */
export type GeneratedStream<Event> = { route: Route; events: AsyncIterable<Event>; ignored: readonly string[] }

/** The two ways to get an answer. Both throw a Fault. */
export type Generate<Input, Answer, Event> = {
  /** Resolves with the whole answer. Fails over until a candidate has answered. */
  whole(input: Input): Promise<Generated<Answer>>
  /**
   * Resolves with the stream after a provider's first event. Before this event, the next candidate is tried after a
   * failure.
   */
  stream(input: Input): Promise<GeneratedStream<Event>>
}

export function createGenerate<Input extends GenerateInput, Answer, Event>(
  deps: DispatchDeps,
  translation: Translation<Input, Answer, Event>,
): Generate<Input, Answer, Event> {
  return {
    whole: (input) => generateWhole(deps, translation, input),
    stream: (input) => generateStream(deps, translation, input),
  }
}

async function generateWhole<Input extends GenerateInput, Answer, Event>(
  deps: DispatchDeps,
  translation: Translation<Input, Answer, Event>,
  input: Input,
): Promise<Generated<Answer>> {
  const dispatched = await dispatchRequest(deps, input, planOf(translation, input, false, askWhole(translation, input)))
  const { answer, usage, ignored } = dispatched.value
  const costMicroUsd = dispatched.succeed(usage ? quantitiesOf(usage) : [])
  if (answer instanceof Fault) throw answer
  return { route: dispatched.route, answer, costMicroUsd, ignored }
}

async function generateStream<Input extends GenerateInput, Answer, Event>(
  deps: DispatchDeps,
  translation: Translation<Input, Answer, Event>,
  input: Input,
): Promise<GeneratedStream<Event>> {
  const run = askStream(translation, input, deps.limits.llm.idleMs)
  const dispatched = await dispatchRequest(deps, input, planOf(translation, input, true, run))
  const { ignored, events } = dispatched.value
  return { route: dispatched.route, events: events(dispatched), ignored }
}

function planOf<Input extends GenerateInput, T>(
  translation: Translation<Input, unknown, unknown>,
  input: Input,
  stream: boolean,
  answer: Plan<T>['run'],
): Plan<T> {
  const { caller, routing, language } = input
  const run = translation.mayBeEmpty?.(input) ? excusing(answer) : answer
  const needs = translation.needs(input)
  if (stream) needs.unshift('streaming')
  const ask = baseAsk(caller, 'llm', routing, language, needs)
  const worstCase = () => translation.worstCase(input)
  return stream
    ? { ask, atOnce: false, sendsMax: translation.streamSendsMax, worstCase, run }
    : { ask, atOnce: true, worstCase, run }
}

/** Marks an empty answer as allowed by the request, so the answer does not count as the model's failure. */
function excusing<T>(answer: Plan<T>['run']): Plan<T>['run'] {
  return async (row, signal, ports) => {
    try {
      return await answer(row, signal, ports)
    } catch (error) {
      if (!(error instanceof ProviderError) || error.errorClass !== 'empty') throw error
      throw new ProviderError('empty', { sent: error.sent, isByCaller: true, cause: error })
    }
  }
}

type Whole<Answer> = { answer: Answer | Fault; usage: LlmUsage | null; ignored: readonly string[] }

const none: readonly string[] = []

function askWhole<Input extends GenerateInput, Answer>(
  translation: Translation<Input, Answer, unknown>,
  input: Input,
): Plan<Whole<Answer>>['run'] {
  const { passThrough } = translation
  return async ({ model }, signal, ports) => {
    const llm = llmOf(ports)
    const port = passThrough?.portOf(llm)
    if (passThrough && port) {
      const passed = await port.complete(passThrough.requestOf(model.id, input), signal)
      return { answer: passThrough.answerOf(passed), usage: passed.usage?.counts ?? null, ignored: none }
    }
    const ignored = translation.ignored?.(model.id, input, llm) ?? none
    const answer = await llm.respond(translation.requestOf(model.id, input, llm), signal)
    if (answer.text === '' && answer.calls.length === 0) refuseNothing(answer)
    return { answer: translation.answerOf(answer, input), usage: answer.usage, ignored }
  }
}

/** A stream after its first item. `events` makes the stream's events when the serving attempt is known. */
type OpenedStream<Event> = {
  ignored: readonly string[]
  events: (dispatched: DispatchedRequest<unknown>) => AsyncIterable<Event>
}

function askStream<Input extends GenerateInput, Event>(
  translation: Translation<Input, unknown, Event>,
  input: Input,
  idleMs: number,
): Plan<OpenedStream<Event>>['run'] {
  const { opening, emptyStream, passThrough } = translation
  const soFar = (characters: number) => translation.soFar(input, characters)
  const options = { opening, soFar, idleMs }
  return async ({ model }, signal, ports) => {
    const llm = llmOf(ports)
    const port = passThrough?.portOf(llm)
    if (passThrough && port) {
      const stream = await firstOf(signal, port.stream(passThrough.requestOf(model.id, input), signal), 'empty')
      const read = (route: Route) => passThrough.reader(input, route)
      return { ignored: none, events: (to) => new AnswerEvents(to, stream, read(to.route), options) }
    }
    const ignored = translation.ignored?.(model.id, input, llm) ?? none
    const stream = await firstOf(signal, llm.stream(translation.requestOf(model.id, input, llm), signal), emptyStream)
    if (stream.first.type === 'end') refuseNothing(stream.first)
    const events: OpenedStream<Event>['events'] = (dispatched) => {
      const settle: Settle = (usage, isComplete) => settleStream(dispatched, usage, isComplete)
      return new AnswerEvents(dispatched, stream, translation.reader(input, dispatched.route, settle), options)
    }
    return { ignored, events }
  }
}

function llmOf({ llm }: ProviderPorts): Llm {
  if (!llm) throw new ProviderError('unsupported', { sent: false })
  return llm
}

async function firstOf<Part>(
  signal: AttemptSignal,
  parts: AsyncIterable<Part>,
  emptyStream: 'empty' | 'protocol',
): Promise<BegunStream<Part>> {
  const rest = begin(signal, parts)
  const first = await rest.next()
  if (first.done) throw new ProviderError(emptyStream, { sent: true })
  return { first: first.value, rest }
}

/**
 * Throws ProviderError `empty` if the model has not answered, so the next candidate is tried. An empty answer that used
 * tokens is accepted, because reasoning may have used up the token limit.
 */
function refuseNothing({ stopReason, usage }: { stopReason: StopReason; usage: LlmUsage }): void {
  if (stopReason !== 'max_output_tokens' && usage.outputTokens + usage.reasoningTokens === 0)
    throw new ProviderError('empty', { sent: true })
}
