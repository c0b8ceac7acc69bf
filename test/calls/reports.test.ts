/** The waits of finalize and of an analysis, in injected time. */
import t from 'tap'
import { type AnalysisLimit, createAnalyse } from '../../domain/calls/analyse.ts'
import type { Call } from '../../domain/calls/call.ts'
import { firstReport } from '../../domain/calls/report.ts'
import { Reports, type ReportsDeps } from '../../domain/calls/reports.ts'
import type { Analysis, PendingReport } from '../../domain/calls/store.ts'
import { Fault } from '../../domain/fault.ts'
import { ResourceFault } from '../../domain/resource-fault.ts'
import { bench, caller, ManualClock, model, provider, settled } from '../domain/fakes.ts'
import { silent } from '../store/cluster.ts'
import { newCall, newTurn } from './call.ts'

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
  const clock = new ManualClock()
  const state = {
    report: call && firstReport({ ...call, userTurns: 1, agentTurns: 1, emptyData: {}, hasCallback: false }, 0),
    analyses: 0,
    retried: 0,
    limits: [] as AnalysisLimit[],
    pending: [] as PendingReport[],
  }
  let finish: (analysis: Analysis) => void = () => {}
  const found = () => Promise.resolve(state.report)
  const reports: ReportsDeps['reports'] = {
    find: found,
    claim: () => Promise.resolve(true),
    complete: (_tenant, _id, analysis) => {
      if (analysis !== null && state.report !== null) {
        const { status, ...findings } = analysis
        state.report = { ...state.report, ...findings, analysisStatus: status }
      }
      return Promise.resolve()
    },
    pending: () => Promise.resolve(state.pending),
    endpointFields: () => Promise.resolve([]),
  }
  const made = new Reports({
    calls: { find: () => Promise.resolve(call) },
    record: { turns: () => Promise.resolve([newTurn()]) },
    reports,
    changes: { watch: () => () => {} },
    whole: {
      report: () => {
        if (state.report === null) return Promise.reject(new ResourceFault({ kind: 'report_missing', hasEnded: true }))
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
    deliveries: { retryReport: () => Promise.resolve(void state.retried++) },
    clock,
    log: silent,
  })
  const tenant = { organizationId: 'org_1', test: false }
  const finalize = (isForced = false, retriesWebhook = false) =>
    made.finalize(tenant, 'id', { isForced, retriesWebhook })
  return { clock, state, made, finalize, finish: (analysis: Analysis) => finish(analysis) }
}

t.test('finalize waits 20 s and answers what stands; a second one waits for the same', async (t) => {
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

t.test('an LLM must answer within 55 s of the end, and calls that are late wait for no place', async (t) => {
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

t.test('finalize sends a report again only where that is asked for', async (t) => {
  const { state, finalize } = setup(newCall('org_1', { status: 'cancelled', endReason: 'api_ended' }))
  await finalize()
  t.equal(state.retried, 0)
  await finalize(false, true)
  t.equal(state.retried, 1)
})

t.test('finalize of a call that lives, and of one that nobody joined', async (t) => {
  await t.rejects(setup(newCall('org_1', { status: 'in_progress' })).finalize(), { message: 'call_not_ended' })
  await t.rejects(setup(null).finalize(), { message: 'not_found' })
  const unjoined = setup(newCall('org_1', { status: 'cancelled', endReason: 'not_joined' }))
  unjoined.state.report = null
  await t.rejects(unjoined.finalize(), { message: 'report_missing' })
  const unconnected = setup(newCall('org_1', { status: 'cancelled', endReason: 'api_ended' }))
  t.equal((await unconnected.finalize(true)).report.analysisStatus, 'heuristic')
  t.equal(unconnected.state.analyses, 0, 'there is nothing to read')
})

t.test('an analysis takes 60 s in all', async (t) => {
  const capabilities = { ...model('llm').capabilities, structured_output: true }
  const { deps, clock } = bench([provider('p', [model('llm', { capabilities })])], ['p'])
  let isAborted = false
  const analyse = createAnalyse({
    chooser: deps.chooser,
    generate: {
      whole: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            isAborted = true
            reject(new Fault({ kind: 'cancelled' }))
          })
        }),
    },
    callerOf: () => Promise.resolve(caller()),
    callbackOf: () => Promise.resolve(null),
    isPhoneNumber: () => false,
    callbackId: () => 'callback_1',
    clock,
    ids: { request: () => 'req_1' },
    log: silent,
  })
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
