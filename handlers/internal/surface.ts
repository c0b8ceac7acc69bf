/**
 * The internal API: health, documentation, the ranking page, the pages below /try, recording links, and carrier events.
 * Its contract is not served.
 */
import type { Caller } from '../../domain/records/organization.ts'
import { type InternalHandlers, widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import type { FaultWriter } from '../../runtime/engine/handler.ts'
import type { Surface } from '../../runtime/engine/operation.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import type { EngineChoice } from '../../runtime/server/choose.ts'
import { type MessageWebhookDeps, receiveMessageWebhook } from '../carrier/message-webhooks.ts'
import { type CarrierWebhookDeps, receiveCarrierWebhook } from '../carrier/webhooks.ts'
import type { ConsoleHandlers } from '../console/handlers.ts'
import { compatPlaces } from '../faults/places.ts'
import { createFaultWriter } from '../faults/writer.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { type ConsoleDeps, consoleHandlers } from './console.ts'
import { type DocsDeps, docsHandlers } from './docs.ts'
import { getRankingPage, type RankingFacts } from './ranking.ts'
import { type SimulatorControl, simulatorHandlers } from './simulator.ts'
import { siteHandlers } from './site.ts'
import { type TryDeps, tryHandlers } from './try.ts'
import { type TryAgentParts, tryAgentHandlers } from './try-agent.ts'

/** A condition for readiness. `check` resolves with the reason why it fails, or with null. */
export type ReadyCheck = { name: string; check: () => Promise<string | null> }

export type InternalDeps = Omit<TryDeps, 'headerPrefix'> & {
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
  ranking: RankingFacts
  docsFolder: DocsDeps['docsFolder']
  consoleFolder: ConsoleDeps['consoleFolder']
  /** Null if this server has no sessions. */
  tryAgent: TryAgentParts | null
  carrier: CarrierWebhookDeps
  messages: MessageWebhookDeps
  simulator: SimulatorControl | null
  console: { isEnabled: boolean; handlers: ConsoleHandlers }
  /** `writeFault` writes errors in the platform API's form, because that API makes the recording links. */
  recordings: Pick<InternalHandlers<null>, 'getLinkedRecording'> & { writeFault: FaultWriter }
}

/**
 * Makes three mounts (groups of routes with shared settings). The simulator's routes accept API keys, so their requests
 * count against the quota. Otherwise an attacker could try keys without end. Recording links and the console's sign-in
 * are open to the public, so their requests count against the quota and are refused while the server restarts. Their
 * errors have the platform API's form, because the platform API makes the links and serves the console's pages.
 */
export function mountInternal(settings: SurfaceSettings, deps: InternalDeps): Mount[] {
  const words = { contract: '/openapi/compat.json', hasIdempotencyKeys: false, places: compatPlaces }
  const handlers = widenInternalHandlers(handlersOf(settings, deps))
  // `cors.origins` does not apply to the internal API: pages of other origins cannot read its responses.
  const shared = { ...mountOf(settings), corsOrigins: [], handlers }
  const writerWith = (fieldsDocument: string) => createFaultWriter({ ...settings, ...words, fieldsDocument })
  return [
    {
      ...shared,
      quota: false,
      health: true,
      surface: partOf((pattern) => !isOfSimulator(pattern) && !hasPlatformErrors(pattern)),
      writeFault: writerWith('specs/internal.openapi.yaml'),
    },
    { ...shared, surface: partOf(isOfSimulator), writeFault: writerWith('docs/simulator.md') },
    {
      ...shared,
      surface: partOf((pattern) => hasPlatformErrors(pattern) && (deps.console.isEnabled || !isOfConsole(pattern))),
      writeFault: deps.recordings.writeFault,
    },
  ]
}

function handlersOf(
  { headerPrefix }: SurfaceSettings,
  {
    readyChecks,
    engine,
    ranking,
    docsFolder,
    consoleFolder,
    tryAgent,
    carrier,
    messages,
    simulator,
    console,
    recordings,
    ...deps
  }: InternalDeps,
) {
  return {
    ...healthHandlers(readyChecks, engine),
    ...siteHandlers,
    ...consoleHandlers({ consoleFolder }),
    ...docsHandlers({ docsFolder, headerPrefix }),
    ...getRankingPage(ranking, { ...deps, headerPrefix }),
    ...tryHandlers({ ...deps, headerPrefix }),
    ...tryAgentHandlers({ ...deps, headerPrefix, parts: tryAgent }),
    ...receiveCarrierWebhook(carrier),
    ...receiveMessageWebhook(messages),
    ...simulatorHandlers(simulator),
    ...console.handlers,
    getLinkedRecording: recordings.getLinkedRecording,
  } satisfies InternalHandlers<Caller>
}

const hasPlatformErrors = (pattern: string) => pattern === '/recordings/:file' || isOfConsole(pattern)
const isOfConsole = (pattern: string) => pattern.startsWith('/console/auth/')
const isOfSimulator = (pattern: string) => pattern.startsWith('/simulator/')

function partOf(isIn: (pattern: string) => boolean): Surface {
  const { name, operations, paths } = withConsoleSlash(internalSurface)
  const has = ({ pattern }: { pattern: string }) => isIn(pattern)
  return { name, operations: operations.filter(has), paths: paths.filter(has) }
}

/**
 * Serves the console at `/console/` too, because people type this URL. The contract cannot list the path, because the
 * code generator refuses paths that end in a slash.
 */
function withConsoleSlash({ name, operations, paths }: Surface): Surface {
  const also = <Row extends { pattern: string }>(rows: readonly Row[]) => [
    ...rows,
    ...rows.filter(({ pattern }) => pattern === '/console').map((row) => ({ ...row, pattern: '/console/' })),
  ]
  return { name, operations: also(operations), paths: also(paths) }
}

const headers = { 'Cache-Control': 'no-store' } as const

export function healthHandlers(
  checks: readonly ReadyCheck[],
  choice: EngineChoice,
): Pick<InternalHandlers<null>, 'getHealth' | 'getReady'> {
  const engine = { name: choice.engine, reason: choice.reason }
  return {
    getHealth: () => ({ status: 200, headers, body: { status: 'ok' } }),
    getReady: async () => {
      const reasons = await Promise.all(checks.map(({ check }) => check()))
      const results = checks.map(({ name }, index) => ({
        name,
        ok: reasons[index] === null,
        reason: reasons[index] ?? null,
      }))
      const ready = results.every(({ ok }) => ok)
      const body = { ready, engine, checks: results }
      return ready ? { status: 200, headers, body } : { status: 503, headers, body }
    },
  }
}
