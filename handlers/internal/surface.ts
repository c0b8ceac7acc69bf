/** The internal surface: health, the page that explains the ranking and the microphone page. Its contract is not served. */
import { type InternalHandlers, widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import type { EngineChoice } from '../../runtime/engine/choose.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { compatPlaces } from '../faults/places.ts'
import { createFaultWriter } from '../faults/writer.ts'
import { mountOf, type SurfaceSettings } from '../surface.ts'
import { getRankingPage, type RankingFacts } from './ranking.ts'
import { type TryDeps, tryHandlers } from './try.ts'
import { type TryAgentParts, tryAgentHandlers } from './try-agent.ts'

/** A condition for readiness. `check` answers the reason why it does not hold, or null. */
export type ReadyCheck = { name: string; check: () => Promise<string | null> }

export type InternalDeps = Omit<TryDeps, 'headerPrefix'> & {
  readyChecks: readonly ReadyCheck[]
  engine: EngineChoice
  ranking: RankingFacts
  /** Null: this server has no sessions. */
  tryAgent: TryAgentParts | null
}

export function mountInternal(
  settings: SurfaceSettings,
  { readyChecks, engine, ranking, tryAgent, ...deps }: InternalDeps,
): Mount {
  const { headerPrefix } = settings
  const handlers = {
    ...healthHandlers(readyChecks, engine),
    ...getRankingPage(ranking),
    ...tryHandlers({ ...deps, headerPrefix }),
    ...tryAgentHandlers({ ...deps, headerPrefix, parts: tryAgent }),
  }
  const words = { contract: '/openapi/compat.json', hasIdempotencyKeys: false, places: compatPlaces }
  return {
    ...mountOf(settings),
    // `cors.origins` does not hold for this surface: no page of another origin reads its answers.
    corsOrigins: [],
    quota: false,
    health: true,
    surface: internalSurface,
    handlers: widenInternalHandlers(handlers),
    writeFault: createFaultWriter({ ...settings, ...words }),
  }
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
