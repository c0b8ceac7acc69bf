/**
 * Opens a serving process's capabilities (models, phone lines, sessions, webhooks and others). A capability is opened
 * after the capabilities used by it. Capabilities close in reverse order, so sessions end while their records, webhooks
 * and phone lines still work.
 */

import type { Callbacks } from '../domain/callbacks/callbacks.ts'
import type { HealthReports } from '../domain/health/health-reports.ts'
import type { Operations } from '../domain/operations.ts'
import { addressesFor } from './addresses.ts'
import type { App } from './app.ts'
import { type CallRecords, openCallbacks, openCallRecords } from './calls.ts'
import type { Engines } from './engines.ts'
import { openHealthReports } from './health-reports.ts'
import { type Lines, openLines } from './lines.ts'
import { type Messages, openMessages } from './messages.ts'
import { createModelOperations } from './models.ts'
import { type Numbers, openNumbers } from './numbers.ts'
import { openSessions, type Sessions } from './sessions.ts'
import { createSimulatedCarrier, languageOfLegs, type SimulatedCarrier } from './simulator.ts'
import { openWebhooks, type Webhooks } from './webhooks.ts'

/** The parts of a serving process that the APIs use. */
export type Capabilities = {
  operations: Operations
  health: HealthReports
  simulator: SimulatedCarrier
  lines: Lines
  numbers: Numbers
  messages: Messages
  webhooks: Webhooks
  records: CallRecords
  callbacks: Callbacks
  sessions: Sessions
}

/** Opens the capabilities. `start` begins the work on calls, after the server's URL is known. */
export async function openCapabilities(
  app: App,
  { providers, vad }: Engines,
): Promise<Capabilities & { start: () => void }> {
  const operations = createModelOperations(app, providers)
  const health = openHealthReports(app, operations)
  const webhookUrl = () => addressesFor('simulator', app).webhooks
  const simulator = createSimulatedCarrier(app, { providers, languageOf: languageOfLegs(app), webhookUrl })
  app.closing(() => simulator.close())
  const lines = openLines(app, simulator)
  const numbers = openNumbers(app, simulator)
  const messages = openMessages(app, simulator)
  const webhooks = await openWebhooks(app)
  const records = openCallRecords(app, operations)
  const sessions = await openSessions(app, { operations, records, lines, vad, webhooks })
  const { callbacks, start } = openCallbacks(app, sessions.phone.placeCallback)
  watchSessions(app, sessions.live)
  return {
    ...{ operations, health, simulator, lines, numbers, messages, webhooks, records, sessions, callbacks },
    start() {
      records.start()
      start()
    },
  }
}

function watchSessions({ metrics, config }: App, live: Capabilities['sessions']['live']): void {
  metrics.watchSessions(() => live.size)
  metrics.watchSessionsMax(() => config.sessions.max)
  metrics.watchCalls(() => live.countByKind().map(([kind, value]) => ({ labels: { kind }, value })))
}
