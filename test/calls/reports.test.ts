/** finalizeCallReport and the analysis of a call by an LLM wait only for limited times. They run on a test clock. */
import t from 'tap'
import { type AnalysisLimit, createAnalyse } from '../../domain/calls/analyse.ts'
import { firstReport } from '../../domain/calls/report.ts'
import { Reports, type ReportsDeps } from '../../domain/calls/reports.ts'
import type { Analysis, PendingReport } from '../../domain/calls/store.ts'
import type { Call } from '../../domain/records/call.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { ExtractionField } from '../../domain/records/webhook-endpoint.ts'
import { settled, TestClock } from '../clock.ts'
import { bench, caller, model, provider } from '../domain/fakes.ts'
import { silent } from '../store/cluster.ts'
import { newCall, newTurn, pipeline } from './call.ts'

const ended = () => newCall('org_1', { status: 'completed', startedAtMs: 1, endedAtMs: 2, endReason: 'user_hangup' })
const analysed: Analysis = {
  summary: 'Done.',
  outcome: 'resolved',
  structuredData: { topics: [], sentiment: null, resolved: true, actionItems: [], message: null },
  customData: {},
  status: 'completed',
  provider: 'p',
  model: 'm',
  error: null,
  callback: null,
  endpointData: {},
}

function setup(call: Call | null) {
  const clock = new TestClock()
  const state = {
    report:
      call &&
      firstReport({ ...call, userTurns: 1, agentTurns: 1, emptyData: {}, hasCallback: false, isTransferred: false }, 0),
    analyses: 0,
    retried: 0,
    limits: [] as AnalysisLimit[],
    pending: [] as PendingReport[],
    claims: [] as number[],
    settled: () => Promise.resolve(),
  }
  let finish: (analysis: Analysis) => void = () => {}
  const found = () => Promise.resolve(state.report)
  const reports: ReportsDeps['reports'] = {
    find: found,
    claim: (_tenant, _id, untilMs) => {
      const { report } = state
      const claimedUntilMs = report && untilMs(report)
      if (report === null || claimedUntilMs === null) return Promise.resolve({ state: 'not_needed' })
      state.claims.push(claimedUntilMs)
      return Promise.resolve({ state: 'claimed', report, endpoints: [] })
    },
    complete: (_tenant, _id, analysis) => {
      if (analysis !== null && state.report !== null) {
        const { status, ...findings } = analysis
        state.report = { ...state.report, ...findings, analysisStatus: status }
      }
      return Promise.resolve()
    },
    pending: () => Promise.resolve(state.pending),
  }
  const made = new Reports({
    calls: { find: () => Promise.resolve(call) },
    record: { turns: () => Promise.resolve([newTurn()]) },
    reports,
    changes: { watch: () => () => {} },
    whole: {
      report: () => {
        if (state.report === null)
          return Promise.reject(new ResourceFault({ kind: 'report_missing', because: 'not_joined' }))
        return Promise.resolve({ report: state.report } as Awaited<ReturnType<ReportsDeps['whole']['report']>>)
      },
    },
    analyse: (_call, _turns, _endpoints, limit) => {
      state.analyses += 1
      state.limits.push(limit)
      return new Promise((resolve) => {
        finish = resolve
      })
    },
    settled: () => state.settled(),
    deliveries: { retryReport: () => Promise.resolve(void state.retried++) },
    clock,
    log: silent,
  })
  const tenant = { organizationId: 'org_1', test: false }
  const finalize = (isForced = false, retriesWebhook = false) =>
    made.finalize(tenant, 'id', { isForced, retriesWebhook })
  return { clock, state, made, finalize, finish: (analysis: Analysis) => finish(analysis) }
}

t.test('finalizeCallReport responds after 20 s at most, and simultaneous requests share one analysis', async (t) => {
  const { clock, state, finalize, finish } = setup(ended())
  const answers: string[] = []
  const note = (name: string) => void finalize().then(({ report }) => answers.push(`${name} ${report.analysisStatus}`))
  note('first')
  await settled()
  await clock.advance(5000)
  note('second')
  await settled()
  await clock.advance(14_999)
  t.same(answers, [])
  await clock.advance(1)
  t.same(answers, ['first pending'])
  finish(analysed)
  await settled()
  await settled()
  t.same(answers, ['first pending', 'second completed'])
  t.equal(state.analyses, 1)
  await finalize()
  t.equal(state.analyses, 1, 'what is analysed is not analysed again')
  const forced = finalize(true)
  await settled()
  await settled()
  finish({ ...analysed, summary: 'Again.' })
  t.equal((await forced).report.summary, 'Again.')
  t.equal(state.analyses, 2)
})

t.test('at most four calls are analysed at once, plus all calls that ended at least 55 s ago', async (t) => {
  const { clock, state, made } = setup(ended())
  const pending = (callId: string, madeAtMs: number) => ({ organizationId: 'org_1', test: false, callId, madeAtMs })
  const nowMs = clock.nowMs()
  const inTime = Array.from({ length: 6 }, (_, at) => pending(`in time ${at}`, nowMs - 54_999))
  const late = Array.from({ length: 6 }, (_, at) => pending(`late ${at}`, nowMs - 55_000))
  state.pending = [...inTime, ...late]
  await made.analysePending()
  await settled()
  await settled()
  t.equal(state.analyses, 10, 'four that are in time, and all that are late')
  t.same(state.limits[0], { untilMs: 55_000, isFirst: true }, 'the report was made at 0')
})

t.test('if another process has meanwhile written the report of a call, the call is not analysed again', async (t) => {
  const { clock, state, made } = setup(ended())
  state.pending = [{ organizationId: 'org_1', test: false, callId: 'id', madeAtMs: clock.nowMs() }]
  state.report = state.report && { ...state.report, analysisStatus: 'heuristic' }
  await made.analysePending()
  await settled()
  await settled()
  t.equal(state.analyses, 0)
})

t.test('a call report waits for the costs of its call until it is due, and at most a second longer', async (t) => {
  for (const [leftMs, waitMs] of [
    [55_000, 10_000],
    [4_000, 4_000],
    [0, 1_000],
  ] as const) {
    const { clock, state, finalize, finish } = setup(ended())
    state.settled = () => new Promise(() => {})
    state.report = state.report && { ...state.report, createdAtMs: clock.nowMs() + leftMs - 55_000 }
    void finalize()
    await settled()
    await settled()
    finish(analysed)
    await settled()
    await clock.advance(waitMs - 1)
    t.equal(state.report?.analysisStatus, 'pending', `${leftMs} ms are left`)
    await clock.advance(1)
    t.equal(state.report?.analysisStatus, 'completed')
  }
})

t.test('finalizeCallReport redelivers the call report only if the request asks for a redelivery', async (t) => {
  const { state, finalize } = setup(newCall('org_1', { status: 'cancelled', endReason: 'api_ended' }))
  await finalize()
  t.equal(state.retried, 0)
  await finalize(false, true)
  t.equal(state.retried, 1)
})

t.test('finalizeCallReport is refused for a call in progress and for a call that nobody joined', async (t) => {
  await t.rejects(setup(newCall('org_1', { status: 'in_progress' })).finalize(), { message: 'call_not_ended' })
  await t.rejects(setup(null).finalize(), { message: 'not_found' })
  const unjoined = setup(newCall('org_1', { status: 'cancelled', endReason: 'not_joined' }))
  unjoined.state.report = null
  await t.rejects(unjoined.finalize(), { message: 'report_missing' })
  const unconnected = setup(newCall('org_1', { status: 'cancelled', endReason: 'api_ended' }))
  t.equal((await unconnected.finalize(true)).report.analysisStatus, 'heuristic')
  t.equal(unconnected.state.analyses, 0, 'there is nothing to read')
})

type Generate = Parameters<typeof createAnalyse>[0]['generate']

function analyseWith(whole: Generate['whole']) {
  const capabilities = { ...model('llm').capabilities, structured_output: true }
  const { deps, clock } = bench([provider('p', [model('llm', { capabilities })])], ['p'])
  const analyse = createAnalyse({
    chooser: deps.chooser,
    generate: { whole },
    callerOf: () => Promise.resolve(caller()),
    callbackOf: () => Promise.resolve(null),
    isTransferred: () => Promise.resolve(false),
    isPhoneNumber: () => false,
    callbackId: () => 'callback_1',
    clock,
    ids: { request: () => 'req_1' },
    log: silent,
  })
  return { analyse, clock }
}

t.test('an analysis takes 60 s at most, with all its LLM requests', async (t) => {
  let isAborted = false
  const { analyse, clock } = analyseWith(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          reject(new Fault({ kind: 'cancelled' }))
        })
      }),
  )
  for (const [isFirst, status] of [
    [true, 'heuristic'],
    [false, 'failed'],
  ] as const) {
    isAborted = false
    const analysis = analyse(ended(), [newTurn()], [], { untilMs: clock.nowMs() + 60_000, isFirst })
    await settled()
    await clock.advance(59_999)
    t.notOk(isAborted)
    await clock.advance(1)
    t.ok(isAborted)
    t.match(await analysis, { status, outcome: 'completed', error: /^No LLM answered/ })
    t.match(await analyse(ended(), [newTurn()], [], { untilMs: clock.nowMs(), isFirst }), { status }, 'late at once')
  }
})

const field = (name: string): ExtractionField => ({ name, type: 'string', description: name })
const ofAgent = (call: Call): Call => ({ ...call, pipeline: { ...pipeline, extractionFields: [field('name')] } })
const endpoints = [{ endpointId: 'a', fields: [field('day')] }]

type AskedSchema = { properties: { fields: { required: string[] } } }

/**
 * Makes an LLM that calls `refuse` for a request with the webhook endpoint's extraction field, and answers other
 * requests.
 */
function refusing(refuse: () => ReturnType<Generate['whole']>) {
  const asked: string[][] = []
  const made = analyseWith(({ request }) => {
    const { schema } = request.responseFormat as unknown as { schema: AskedSchema }
    const { required } = schema.properties.fields
    asked.push(required)
    return required.includes('day') ? refuse() : answerWith({ summary: 'Read.', fields: { name: 'Ada' } })
  })
  return { ...made, asked }
}

function answerWith(json: object): ReturnType<Generate['whole']> {
  const answer = { output: [{ type: 'structured_json', json }] }
  return Promise.resolve({ answer, route: { provider: 'p', model: 'm' } } as unknown as Awaited<
    ReturnType<Generate['whole']>
  >)
}

t.test("if the LLM refuses fields of webhook endpoints, the summary and the agent's fields are kept", async (t) => {
  const refusals: [string, () => ReturnType<Generate['whole']>][] = [
    ['the provider refuses the schema', () => Promise.reject(new Fault({ kind: 'provider_refused' }))],
    ['the answer was cut', () => Promise.reject(new Fault({ kind: 'json_truncated' }))],
    ['the model answers with no summary', () => answerWith({ fields: {} })],
  ]
  for (const [title, refuse] of refusals) {
    const { analyse, clock, asked } = refusing(refuse)
    const limit = { untilMs: clock.nowMs() + 55_000, isFirst: true }
    t.match(await analyse(ofAgent(ended()), [newTurn()], endpoints, limit), {
      status: 'completed',
      summary: 'Read.',
      customData: { name: 'Ada', day: null },
      endpointData: { a: { name: 'Ada', day: null } },
    })
    t.same(asked, [['name', 'day'], ['name']], title)
  }
})

t.test("if the LLM is unreachable or refuses the agent's extraction fields, it is not asked again", async (t) => {
  const away = refusing(() => Promise.reject(new Fault({ kind: 'providers_unreachable' })))
  const limit = { untilMs: away.clock.nowMs() + 55_000, isFirst: true }
  t.match(await away.analyse(ofAgent(ended()), [newTurn()], endpoints, limit), { status: 'failed' })
  t.equal(away.asked.length, 1)
  const refused = refusing(() => Promise.reject(new Fault({ kind: 'provider_refused' })))
  const call = { ...ended(), pipeline: { ...pipeline, extractionFields: [field('day')] } }
  t.match(await refused.analyse(call, [newTurn()], endpoints, limit), { status: 'failed', summary: /^The call lasted/ })
  t.equal(refused.asked.length, 1, 'the endpoint asks for the same')
})
