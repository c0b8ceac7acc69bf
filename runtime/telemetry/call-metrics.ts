/** Metrics for calls and their turns. Labels are closed sets: call kinds and end reasons. */
import { Counter, Histogram, type Registry } from 'prom-client'

/** Response latency in seconds. Callers notice a pause from about half a second, and give up after about ten. */
const silenceBuckets = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5, 10]
const stages = ['llm', 'stt', 'tts']

export function createCallMetrics(registry: Registry) {
  const shared = { registers: [registry] }
  const ended = new Counter({
    ...shared,
    name: 'parley_calls_ended_total',
    help: 'Calls that have ended in this process, by kind and end_reason',
    labelNames: ['kind', 'end_reason'],
  })
  const silence = new Histogram({
    ...shared,
    name: 'parley_turn_silence_seconds',
    help: 'From the end of the speech of the caller to the first audio of the agent that was played',
    buckets: silenceBuckets,
  })
  const failovers = new Counter({
    ...shared,
    name: 'parley_failovers_total',
    help: 'Requests that another candidate took over because one before it had failed',
    labelNames: ['stage'],
  })
  const ignored = new Counter({
    ...shared,
    name: 'parley_carrier_events_ignored_total',
    help: 'Events of lines for phone calls that had no effect: of no leg that is known (unknown_leg), or not signed by the carrier (forged)',
    labelNames: ['line', 'reason'],
  })
  // Starts each series at 0: without an earlier 0, a rate does not show the first failover.
  for (const stage of stages) failovers.labels(stage).inc(0)
  return {
    callEnded(kind: string, endReason: string) {
      ended.labels(kind, endReason).inc()
    },
    turnSilence(durationMs: number) {
      silence.observe(durationMs / 1000)
    },
    carrierEventIgnored: (line: string, reason: string) => {
      ignored.labels(line, reason).inc()
    },
    failover(stage: string) {
      failovers.labels(stage).inc()
    },
  }
}
