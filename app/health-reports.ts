/** Tells the other processes on the same database how healthy the models are in this process. */
import { createHealthReports, type HealthReports } from '../domain/health/health-reports.ts'
import type { Operations } from '../domain/operations.ts'
import { Loops } from '../runtime/timing/loops.ts'
import type { App } from './app.ts'

/** The shortest time between two reports of this process. */
const publishEveryMs = 10_000
const closeMs = 1_000

export function openHealthReports(app: App, { catalog, dispatch }: Operations): HealthReports {
  const { store, clock, log } = app
  const reports = createHealthReports({ catalog, health: dispatch.health, store: store.healthReports, clock })
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  loops.start({ name: 'reports about the health of models', everyMs: publishEveryMs, run: () => reports.publish() })
  return reports
}
