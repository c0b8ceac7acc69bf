/** Tests W3C Trace Context, and the product's spans in a client's trace. */
import t from 'tap'
import { passedTrace, readTraceparent, readTracestate } from '../../runtime/engine/trace-context.ts'
import { createTracing, type Tracing } from '../../runtime/telemetry/tracing.ts'
import { systemClock } from '../../runtime/timing/clock.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

t.test('a traceparent is parsed as the W3C recommendation says', (t) => {
  const read = { traceId, spanId, isSampled: true }
  t.strictSame(readTraceparent(`00-${traceId}-${spanId}-01`), read)
  t.strictSame(readTraceparent(`00-${traceId}-${spanId}-02`), { ...read, isSampled: false })
  t.strictSame(readTraceparent(`cc-${traceId}-${spanId}-01-what the future will be like`), read)
  const wrong = [
    '',
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
  ]
  for (const value of wrong) t.equal(readTraceparent(value), null, value)
  t.end()
})

t.test('a tracestate that is too long is dropped', (t) => {
  t.equal(readTracestate('vendor=1,other=2'), 'vendor=1,other=2')
  t.equal(readTracestate(`a=${'b'.repeat(512)}`), '')
  t.equal(readTracestate('a=\n'), '')
  t.end()
})

t.test('without a span exporter the trace of a client is passed on unchanged', (t) => {
  const traceparent = `00-${traceId}-${spanId}-01`
  const trace = passedTrace(traceparent, 'vendor=1')
  t.strictSame(trace?.below().headers, { traceparent, tracestate: 'vendor=1' })
  t.strictSame(trace?.logFields, {})
  t.equal(passedTrace('', ''), null)
  t.equal(passedTrace('00-wrong', ''), null)
  t.end()
})

t.test('a request is a child span of its client, and outbound requests are its child spans', async (t) => {
  const tracing = await tracingFor(t, {})
  const request = tracing.request(`00-${traceId}-${spanId}-01`, 'vendor=1')
  const attempt = request.below()
  for (const { headers, logFields } of [request, attempt]) {
    t.equal(logFields['traceId'], traceId)
    t.equal(headers.traceparent, `00-${traceId}-${logFields['spanId']}-01`)
    t.equal(headers.tracestate, 'vendor=1')
  }
  t.not(request.logFields['spanId'], attempt.logFields['spanId'])
})

t.test('a call has the same trace id in every process', async (t) => {
  const tracing = await tracingFor(t, {})
  const callId = '01a20d76-31bb-70ee-b342-95c805e1a4d3'
  const found = tracing.call(callId)
  t.strictSame(found.logFields, { traceId: '01a20d7631bb70eeb34295c805e1a4d3', spanId: 'b34295c805e1a4d3' })
  t.strictSame(tracing.call(callId).headers, found.headers)
  t.not(tracing.begin(callId).logFields['traceId'], found.logFields['traceId'], 'a linked trace is another one')
})

t.test('OTEL_TRACES_SAMPLER decides which traces are recorded', async (t) => {
  const sampledIn = async (env: Record<string, string>, traceparent = '') => {
    const { headers } = (await tracingFor(t, env)).request(traceparent, '').below()
    return headers.traceparent.endsWith('-01')
  }
  t.equal(await sampledIn({}), true)
  t.equal(await sampledIn({ OTEL_TRACES_SAMPLER: 'always_off' }), false)
  t.equal(await sampledIn({}, `00-${traceId}-${spanId}-00`), false, 'the client has decided')
  const ratio = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  t.equal(await sampledIn(ratio), false)
  t.equal(await sampledIn(ratio, `00-${traceId}-${spanId}-01`), true)
})

type Test = { teardown(run: () => unknown): void }

/**
 * Starts tracing with these variables, which the SDK reads from the process's environment. No span is recorded, so no
 * span is sent.
 */
async function tracingFor(t: Test, env: Record<string, string>): Promise<Tracing> {
  Object.assign(process.env, env)
  const tracing = await createTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }, systemClock)
  for (const name of Object.keys(env)) delete process.env[name]
  if (tracing === null) throw new Error('no tracing')
  t.teardown(() => tracing.close())
  return tracing
}
