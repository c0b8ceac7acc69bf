/**
 * Analyses a call with one request to an LLM, routed by the agent's settings. Last-resort models may answer in
 * conversations, but never analyse a call.
 */
import { clockFor, daysAheadOf, readCallbackFinding } from '../callbacks/callback-finding.ts'
import { numberOfPerson } from '../callbacks/callback-request.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Generate } from '../llm/generate.ts'
import type { ItemsAnswer, ItemsInput } from '../llm/items.ts'
import type { Clock, Ids, Log } from '../ports/system.ts'
import type { Traces } from '../ports/trace.ts'
import type { Call, Turn } from '../records/call.ts'
import { type Callback, isPromised, newCallback } from '../records/callback.ts'
import { Fault, type FaultKind } from '../records/fault.ts'
import type { Caller, Tenant } from '../records/organization.ts'
import type { ExtractionField } from '../records/webhook-endpoint.ts'
import { baseAsk, type Routing } from '../routing/ask.ts'
import type { Chooser } from '../routing/chooser.ts'
import { modelName } from '../routing/model-name.ts'
import { routingOfStage } from '../speech/session-routes.ts'
import { callerMessage } from './caller-message.ts'
import { type EndpointFields, type Extraction, extractionOf } from './extraction.ts'
import { formatOf, instructions, readFindings, transcriptOf } from './findings.ts'
import { endedCallOf, type Findings, ruledFindings } from './report.ts'
import type { Analysis } from './store.ts'

export type AnalyseDeps = {
  chooser: Chooser
  generate: Pick<Generate<ItemsInput, ItemsAnswer, unknown>, 'whole'>
  /** Resolves with the owner of the session's API key, or with null if the key is deleted. */
  callerOf: (tenant: Tenant, keyId: string) => Promise<Caller | null>
  /** Resolves with the last callback that the agent promised to the caller. */
  callbackOf: (call: Call) => Promise<Callback | null>
  /** Resolves with true if a transfer connected the caller to a person. */
  isTransferred: (call: Call) => Promise<boolean>
  isPhoneNumber: (text: string) => boolean
  callbackId: () => string
  clock: Clock
  ids: Pick<Ids, 'request'>
  log: Log
  /** Absent or null if calls are not traced. */
  traces?: Traces | null
}

/**
 * The token limit for an LLM's answer. Most fields need a few words, but a text field may need many, so the limit is
 * generous. `max` caps the limit even if there are more fields.
 */
const tokens = { least: 2_048, ofField: 128, max: 8_192 }

/** Analyses an ended call. If the LLM fails, the analysis says so, and the promise does not reject. */
export type Analyse = (
  call: Call,
  turns: readonly Turn[],
  endpoints: readonly EndpointFields[],
  limit: AnalysisLimit,
) => Promise<Analysis>

/**
 * The LLM must answer before `untilMs`. If it does not, a first analysis gets the status `heuristic` and the findings
 * from the rules, as if no LLM were configured. A later analysis gets the status `failed`.
 */
export type AnalysisLimit = { untilMs: number; isFirst: boolean }

export function createAnalyse(deps: AnalyseDeps): Analyse {
  return async (call, turns, endpoints, limit) => {
    const extraction = extractionOf(call.pipeline.extractionFields, endpoints)
    const empty = extraction.read({})
    const promised = await deps.callbackOf(call)
    const message = callerMessage(turns)
    const facts = { hasCallback: isPromised(promised), isTransferred: await deps.isTransferred(call) }
    const ruled = ruledFindings(endedCallOf(call, turns, facts, empty.customData, message))
    const none = { provider: null, model: null, error: null, callback: null, endpointData: empty.endpointData }
    const heuristic: Analysis = { ...ruled, status: 'heuristic', ...none }
    const late: Analysis = { ...heuristic, status: limit.isFirst ? 'heuristic' : 'failed', error: lateError }
    const target = await askable(deps, call, turns)
    if (target === null) return heuristic
    const leftMs = limit.untilMs - deps.clock.nowMs()
    if (leftMs <= 0) return late
    const timeout = new AbortController()
    const cancel = deps.clock.after(leftMs, () => timeout.abort())
    try {
      // If the agent has promised a callback during the call, even if it was cancelled later, the analysis creates no
      // further callback.
      const maxDaysAhead = promised === null ? daysAheadOf(call.pipeline) : null
      return await analysed(deps, { call, turns, extraction, ruled, heuristic, maxDaysAhead }, target, timeout.signal)
    } catch (err) {
      if (timeout.signal.aborted) return late
      if (!(err instanceof Fault)) deps.log.error({ err, callId: call.id }, 'a call could not be analysed')
      const error = err instanceof Fault ? `No LLM answered: ${err.kind}.` : 'The analysis failed.'
      return { ...heuristic, status: 'failed', error }
    } finally {
      cancel()
    }
  }
}

type Subject = {
  call: Call
  turns: readonly Turn[]
  extraction: Extraction
  ruled: Findings
  heuristic: Analysis
  /** Null if the analysis must not create a callback. */
  maxDaysAhead: number | null
}

/**
 * Asks the LLM for the agent's and the webhook endpoints' extraction fields. If the endpoints' fields make a provider
 * refuse the request, or make the model's answer unusable, a second request asks for the agent's fields alone. So the
 * summary and the agent's fields are answered even if an endpoint's fields cause a failure.
 */
async function analysed(
  deps: AnalyseDeps,
  subject: Subject,
  target: LlmTarget,
  signal: AbortSignal,
): Promise<Analysis> {
  const { questions, ofAgent } = subject.extraction
  if (questions.length > ofAgent.length)
    try {
      const analysis = await analysedWith(deps, subject, { ...target, questions, signal })
      if (analysis.status === 'completed') return analysis
    } catch (error) {
      if (!(error instanceof Fault && refusals.has(error.kind))) throw error
    }
  return analysedWith(deps, subject, { ...target, questions: ofAgent, signal })
}

/** Faults that the questions may have caused: the schema was too large, or the answer exceeded the token limit. */
const refusals: ReadonlySet<FaultKind> = new Set([
  'provider_refused',
  'all_unsupported',
  'all_failed',
  'field_unsupported',
  'json_truncated',
  'too_much_text',
])

async function analysedWith(
  deps: AnalyseDeps,
  { call, turns, extraction, ruled, heuristic, maxDaysAhead }: Subject,
  request: LlmTarget & Pick<Question, 'questions' | 'signal'>,
): Promise<Analysis> {
  const { answer, route } = await ask(deps, call, turns, { ...request, asksForCallback: maxDaysAhead !== null })
  const item = answer.output.find(({ type }) => type === 'structured_json')
  const json = item && 'json' in item ? item.json : null
  const findings = readFindings(json, request.questions, ruled)
  const { provider, model } = route
  if (findings === null) return { ...heuristic, status: 'failed', provider, model, error: 'The answer was not usable.' }
  const callback = maxDaysAhead === null ? null : requestedCallback(deps, call, json, maxDaysAhead)
  const isCallbackScheduled = callback !== null && ruled.outcome === 'completed'
  return {
    ...findings,
    ...(isCallbackScheduled && { outcome: 'callback_scheduled' as const }),
    ...extraction.read(findings.customData),
    status: 'completed',
    provider,
    model,
    error: null,
    callback,
  }
}

const lateError = 'No LLM answered in time.'

function requestedCallback(deps: AnalyseDeps, call: Call, json: unknown, maxDaysAhead: number): Callback | null {
  const { clock, isPhoneNumber, callbackId } = deps
  const callbackJson = typeof json === 'object' && json !== null && 'callback' in json ? json.callback : null
  const rules = { nowMs: clock.nowMs(), maxDaysAhead, defaultTo: numberOfPerson(call), isPhoneNumber }
  const request = readCallbackFinding(callbackJson, rules)
  return request && newCallback(call, request, callbackId(), clock.nowMs())
}

type LlmTarget = { caller: Caller; routing: Routing }

/** Returns the LLM route for the analysis. Returns null if no LLM may be asked, or if the user said nothing. */
async function askable(deps: AnalyseDeps, call: Call, turns: readonly Turn[]): Promise<LlmTarget | null> {
  if (call.test || !turns.some(({ source }) => source === 'user')) return null
  const caller = await deps.callerOf(call, call.keyId)
  if (caller === null) return null
  try {
    const { chooser } = deps
    const routing = withoutLastResort(
      chooser.world.catalog,
      routingOfStage(chooser.world.catalog, caller, call.pipeline, 'llm'),
    )
    if (routing === null) return null
    chooser.chooseSome(baseAsk(caller, 'llm', routing, call.pipeline.intent.language, ['structured_output']))
    return { caller, routing }
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** Returns the routing restricted to models other than last-resort models. Returns null if no model is left. */
export function withoutLastResort(catalog: Catalog, routing: Routing): Routing | null {
  if (routing.mode === 'explicit') {
    const row = catalog.find('llm', routing.provider, routing.model)
    return row?.model.lastResort === true ? null : routing
  }
  const { allowProviders } = routing
  const names = catalog
    .stage('llm')
    .filter(({ model }) => !model.lastResort)
    .filter(({ provider, model }) => {
      if (allowProviders === undefined || allowProviders.length === 0) return true
      return allowProviders.includes(provider.id) || allowProviders.includes(modelName(provider.id, model.id))
    })
    .map(({ provider, model }) => modelName(provider.id, model.id))
  return names.length === 0 ? null : { ...routing, allowProviders: names }
}

type Question = LlmTarget & { questions: readonly ExtractionField[]; asksForCallback: boolean; signal: AbortSignal }

function ask(
  { generate, clock, ids, traces }: AnalyseDeps,
  call: Call,
  turns: readonly Turn[],
  { caller, routing, questions, asksForCallback, signal }: Question,
) {
  const text = asksForCallback ? `${instructions} ${clockFor(call.pipeline, clock.nowMs())}` : instructions
  return generate.whole({
    caller,
    routing,
    requestId: ids.request(),
    operation: 'finalizeCallReport',
    callId: call.id,
    signal,
    trace: traces?.call(call.id) ?? null,
    language: call.pipeline.intent.language,
    request: {
      items: [
        { type: 'message', role: 'system', text },
        { type: 'message', role: 'user', text: transcriptOf(turns) },
      ],
      maxOutputTokens: Math.min(tokens.least + tokens.ofField * questions.length, tokens.max),
      tools: [],
      responseFormat: formatOf(questions, asksForCallback),
    },
  })
}
