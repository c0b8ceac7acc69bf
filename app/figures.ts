/** Measures waiting work in the database and the connections to it, for the metrics. */
import type { Loops } from '../runtime/timing/loops.ts'
import type { StoreFigures } from '../store/figures.ts'
import type { App } from './app.ts'

const measureEveryMs = 15_000
const none = { count: 0, oldestMs: 0 }

/**
 * Reads the figures from the database at intervals. Prometheus gets the last figures, so a scrape never waits for the
 * database.
 */
export function watchStore({ store, metrics }: Pick<App, 'store' | 'metrics'>, loops: Loops): void {
  let figures: StoreFigures = {
    connections: { active: 0, idle: 0, in_transaction: 0 },
    serverConnections: 0,
    serverConnectionsMax: 0,
    work: { reports: none, uploads: none, callbacks: none },
  }
  const work = (of: 'count' | 'oldestMs') =>
    Object.entries(figures.work).map(([name, waiting]) => ({ labels: { work: name }, value: waiting[of] }))
  metrics.watchConnections(() =>
    Object.entries(figures.connections).map(([state, value]) => ({ labels: { state }, value })),
  )
  metrics.watchServerConnections(() => figures.serverConnections)
  metrics.watchServerConnectionsMax(() => figures.serverConnectionsMax)
  metrics.watchWork(() => work('count'))
  metrics.watchOldestWork(() => work('oldestMs').map(({ labels, value }) => ({ labels, value: value / 1000 })))
  const measure = async () => {
    figures = await store.figures()
  }
  // Measures once at the start, without waiting for the result. If it fails, the next run logs the error.
  measure().catch(() => {})
  loops.start({ name: 'figures of the store', everyMs: measureEveryMs, run: measure })
}
