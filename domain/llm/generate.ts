/**
 * The one operation over language models: it plans a request, dispatches it, passes the answer on and settles it. It
 * knows no wire. Each surface hands in the translation between its wire and the requests, answers and events of the
 * domain:
 *
 *   input ──► requestOf ──► provider ──► answerOf (whole) or reader (streamed) ──► the surface
 *
 * A provider that speaks the client's wire itself gets the client's body unread, and its answer goes back unread:
 * `passThrough`.
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

/** The part of an input that every wire has. */
export type GenerateInput = RequestContext & {
  routing: Routing
  /** Used for routing only: a model learns the language from its prompt. */
  language?: string
}

export interface Translation<Input extends GenerateInput, Answer, Event> {
  /** The number of candidates that a stream may send a byte to. Absent: each that it tries. */
  readonly streamSendsMax?: number
  /** The events that begin every stream. */
  readonly opening: readonly Event[]
  /** The error class of a provider's stream of events that ends before its first one. */
  readonly emptyStream: 'empty' | 'protocol'
  /** The capabilities that the request needs of a model, beside `streaming`. */
  needs(input: Input): Capability[]
  /** The most that the request can consume, to reserve credit for. */
  worstCase(input: Input): Quantity[]
  /** An estimate for a stream that its reader left after `characters`: the provider has not counted it. */
  soFar(input: Input, characters: number): Quantity[]
  /** Throws ProviderError `unsupported` for a request that LlmRequest cannot express; the next candidate is tried. */
  requestOf(model: string, input: Input, llm: Llm): LlmRequest
  /** The fields of the input that `requestOf` leaves out for this model, as the wire names them. Absent: none. */
  ignored?(model: string, input: Input, llm: Llm): readonly string[]
  /**
   * A ProviderError is thrown when another candidate may do better; a Fault is returned when the answer is billed all
   * the same.
   */
  answerOf(answer: LlmAnswer, input: Input): Answer | Fault
  /** `settle` may be called with the final counts to learn the cost before the last events go out. */
  reader(input: Input, route: Route, settle: Settle): AnswerReader<LlmEvent, Event>
  /** Present for a wire that some providers speak themselves. */
  readonly passThrough?: PassThroughTranslation<Input, Answer, Event>
}

export interface PassThroughTranslation<Input, Answer, Event> {
  portOf(llm: Llm): PassThrough | undefined
  requestOf(model: string, input: Input): PassThroughRequest
  answerOf(answer: PassThroughAnswer): Answer
  reader(input: Input, route: Route): AnswerReader<PassThroughPart, Event>
}

/** `ignored` names the fields of the input that the model did not get. */
export type Generated<Answer> = {
  route: Route
  answer: Answer
  costMicroUsd: number | null
  ignored: readonly string[]
}
/** `events` is to be read once; its iteration throws a Fault when the provider breaks off. */
export type GeneratedStream<Event> = { route: Route; events: AsyncIterable<Event>; ignored: readonly string[] }

/** Both throw a Fault. */
export type Generate<Input, Answer, Event> = {
  /** Fails over until a candidate has answered. */
  whole(input: Input): Promise<Generated<Answer>>
  /** Resolves when the first event of a provider has come, failing over until then. */
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
  run: Plan<T>['run'],
): Plan<T> {
  const { caller, routing, language } = input
  const needs = translation.needs(input)
  if (stream) needs.unshift('streaming')
  const ask = baseAsk(caller, 'llm', routing, language, needs)
  const worstCase = () => translation.worstCase(input)
  return stream
    ? { ask, atOnce: false, sendsMax: translation.streamSendsMax, worstCase, run }
    : { ask, atOnce: true, worstCase, run }
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

/** A stream whose first item has come. It becomes events once it is known which attempt serves the request. */
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
 * A model may answer with nothing after it has spent tokens on it: reasoning that used up the limit is an answer. One
 * that spent none has not answered, so the next candidate is tried.
 */
function refuseNothing({ stopReason, usage }: { stopReason: StopReason; usage: LlmUsage }): void {
  if (stopReason !== 'max_output_tokens' && usage.outputTokens + usage.reasoningTokens === 0)
    throw new ProviderError('empty', { sent: true })
}
