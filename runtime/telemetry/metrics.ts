import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createCallMetrics } from './call-metrics.ts'
import { createStateMetrics } from './state-metrics.ts'
import { createUsageMetrics } from './usage-metrics.ts'

/** Bucket limits in seconds, from a cached response to the longest transcription. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

/**
 * Gauges by the metrics library with names like counters, so Prometheus' tools would take them for counters. Each is
 * the sum of the gauge without the ending, as in `sum(nodejs_active_handles)`.
 */
const misnamedGauges = ['handles', 'requests', 'resources'].map((things) => `nodejs_active_${things}_total`)

export type ProcessMetrics = ReturnType<typeof createMetrics>

/**
 * The labels (operation, provider, model, stage, outcome) have few possible values. An organization, call or phone
 * number is never a label.
 */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedGauges) registry.removeSingleMetric(name)
  const shared = { registers: [registry] }
  const requests = new Histogram({
    ...shared,
    name: 'parley_request_seconds',
    help: 'Requests by operation and status class, from the request line to the last byte',
    labelNames: ['operation', 'status'],
    buckets: durationBuckets,
  })
  let inflight = 0
  new Gauge({
    ...shared,
    name: 'parley_requests_inflight',
    help: 'Requests being served',
    // The gauge is set only when it is read, because the number changes with every request and is read rarely.
    collect() {
      this.set(inflight)
    },
  })
  const attempts = new Histogram({
    ...shared,
    name: 'parley_attempt_seconds',
    help: 'Attempts at providers by outcome',
    labelNames: ['stage', 'provider', 'model', 'outcome'],
    buckets: durationBuckets,
  })
  const firstBytes = new Histogram({
    ...shared,
    name: 'parley_first_byte_seconds',
    help: 'From the dispatch of an attempt to its first media byte or token',
    labelNames: ['stage', 'provider', 'model'],
    buckets: durationBuckets,
  })
  const refusals = new Counter({
    ...shared,
    name: 'parley_refusals_total',
    help: 'Answers that are no success, by code',
    labelNames: ['code'],
  })
  const observeRequest = remembered(requests)
  const observeAttempt = remembered(attempts)
  const observeFirstByte = remembered(firstBytes)
  return {
    registry,
    ...createSocketMetrics(registry),
    ...createStateMetrics(registry),
    ...createUsageMetrics(registry),
    ...createWebhookMetrics(registry),
    ...createCallMetrics(registry),
    engine: createEngineMetric(registry),
    request(operation: string, status: number, durationMs: number) {
      observeRequest(operation, String(status)).observe(durationMs / 1000)
    },
    inflight(count: number) {
      inflight = count
    },
    refusal(code: string) {
      refusals.labels(code).inc()
    },
    attempt(stage: string, provider: string, model: string, outcome: string, durationMs: number) {
      observeAttempt(stage, provider, model, outcome).observe(durationMs / 1000)
    },
    firstByte(stage: string, provider: string, model: string, durationMs: number) {
      observeFirstByte(stage, provider, model).observe(durationMs / 1000)
    },
  }
}

type Series = ReturnType<Histogram['labels']>

/**
 * Keeps the series for each label set, because the library hashes the labels at every call. Each label has a limited
 * number of values, so the map is bounded.
 */
function remembered(histogram: Histogram): (...labels: string[]) => Series {
  const all = new Map<string, Series>()
  return (...labels) => {
    const key = labels.join(' ')
    let series = all.get(key)
    if (!series) all.set(key, (series = histogram.labels(...labels)))
    return series
  }
}

function createEngineMetric(registry: Registry) {
  const info = new Gauge({
    registers: [registry],
    name: 'parley_engine_info',
    help: 'What serves HTTP and sockets: uws (uWebSockets.js) or node (node:http with ws), and why it is not uws; always 1',
    labelNames: ['engine', 'reason'],
  })
  return (name: string, reason: string | null) => info.labels(name, reason ?? '').set(1)
}

function createSocketMetrics(registry: Registry) {
  const shared = { registers: [registry] }
  const sockets = new Gauge({ ...shared, name: 'parley_sockets_open', help: 'Open sockets', labelNames: ['channel'] })
  const socketsOpened = new Counter({
    ...shared,
    name: 'parley_sockets_opened_total',
    help: 'Sockets that were opened',
    labelNames: ['channel'],
  })
  const socketsClosed = new Counter({
    ...shared,
    name: 'parley_sockets_closed_total',
    help: 'Sockets that have ended, by close code; codes that an application may choose as 3xxx and 4xxx',
    labelNames: ['channel', 'code'],
  })
  const warmSockets = new Counter({
    ...shared,
    name: 'parley_warm_sockets_total',
    help: 'Sockets to providers: opened ahead and there (hit), opened while somebody waited (miss), opened ahead and ended before use (stale)',
    labelNames: ['provider', 'outcome'],
  })
  return {
    warmSocket(provider: string, outcome: 'hit' | 'miss' | 'stale') {
      warmSockets.labels(provider, outcome).inc()
    },
    socketOpened(channel: string) {
      sockets.labels(channel).inc()
      socketsOpened.labels(channel).inc()
    },
    socketClosed(channel: string, code: number) {
      sockets.labels(channel).dec()
      socketsClosed.labels(channel, codeClass(code)).inc()
    },
  }
}

function createWebhookMetrics(registry: Registry) {
  const shared = { registers: [registry] }
  const attempts = new Histogram({
    ...shared,
    name: 'parley_webhook_attempt_seconds',
    help: 'Attempts to deliver webhook events, by outcome',
    labelNames: ['outcome'],
    buckets: durationBuckets,
  })
  const open = new Gauge({
    ...shared,
    name: 'parley_webhook_deliveries_open',
    help: 'Webhook deliveries that are not over, of all processes on the database',
  })
  const oldestDue = new Gauge({
    ...shared,
    name: 'parley_webhook_oldest_due_seconds',
    help: 'How long the webhook delivery that is due for longest waits, of all processes on the database; 0 where none is due',
  })
  const observeAttempt = remembered(attempts)
  return {
    webhookAttempt(outcome: string, durationMs: number) {
      observeAttempt(outcome).observe(durationMs / 1000)
    },
    webhookBacklog(count: number, oldestDueMs: number) {
      open.set(count)
      oldestDue.set(oldestDueMs / 1000)
    },
  }
}

/** Maps the close code to a closed set for labels, because peers choose the code. */
function codeClass(code: number): string {
  if (code >= 1000 && code <= 1015) return String(code)
  return code >= 3000 && code <= 4999 ? `${Math.floor(code / 1000)}xxx` : 'other'
}
