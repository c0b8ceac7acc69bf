/** Models' health in this process, and in the other processes on the same database. */
import { noCredential, ownKeyIdOf } from '../access/provider-keys.ts'
import type { Catalog, Row } from '../catalog/catalog.ts'
import { type Path, type Stage, stages } from '../ports/model.ts'
import type { Clock } from '../ports/system.ts'
import type { OwnKeys } from '../records/organization.ts'
import type { Blocked } from './circuits.ts'
import type { Health } from './health.ts'

/**
 * One model on one path (stream or batch), as one process sees it. A model without a report has no figures and is not
 * blocked.
 */
export type ModelReport = ModelFigures & {
  key: string
  path: Path
  blocked: Blocked | null
  /** True if the provider has stopped answering. */
  isSuspect: boolean
}

type ModelFigures = {
  /** Between 0 and 1. Null if too few attempts were measured. */
  errorRate: number | null
  firstByteMs: number | null
  p95Ms: number | null
  realTimeFactor: number | null
  /** The number of recent answers from which the rates and times here were computed. */
  samples: number
  asOfMs: number | null
}

export interface HealthReportStore {
  /** Replaces this process's reports, and removes ended processes' reports. */
  write(reports: readonly ModelReport[]): Promise<void>
  /** Reads the other processes' reports: one list for each process. */
  readOthers(): Promise<readonly (readonly ModelReport[])[]>
}

export type ModelState = 'ok' | 'degraded' | 'open' | 'no_credential' | 'unknown'

export type ModelHealth = ModelFigures & {
  provider: string
  stage: Stage
  model: string
  path: Path
  state: ModelState
  reason: string | null
  retryAfterMs: number | null
  keySource: 'BYOK' | 'MANAGED' | null
  /** Counts the processes with a report about the model. */
  processes: number
}

export type HealthReports = {
  list(organizationId: string, ownKeys: OwnKeys): Promise<ModelHealth[]>
  /** Writes this process's reports if they have changed, or if they would soon be taken for old ones. */
  publish(): Promise<void>
}

type Deps = { catalog: Catalog; health: Health; store: HealthReportStore; clock: Clock }

/** An unchanged report is written again after this time, before other processes take it for an old one. */
const repeatMs = 30_000
/** A model with this error rate or a higher one is degraded. */
const degradedRate = 0.1

export function createHealthReports(deps: Deps): HealthReports {
  const { catalog, health, store, clock } = deps
  let written = ''
  let writtenAtMs = Number.NEGATIVE_INFINITY
  return {
    async list(organizationId, ownKeys) {
      const others = await store.readOthers()
      const all = [reportsOf(deps), ...others].map((reports) => new Map(reports.map((each) => [placeOf(each), each])))
      return places(catalog).map(({ row, path }) => {
        const own = health.blocked(row, ownKeyIdOf(row.provider, ownKeys), organizationId)
        return healthOf(catalog, ownKeys, {
          row,
          path,
          own,
          reports: all.flatMap((of) => of.get(`${row.key} ${path}`) ?? []),
        })
      })
    },
    async publish() {
      const reports = reportsOf(deps)
      const text = JSON.stringify(
        reports.map((report) => ({ ...report, asOfMs: null, blocked: report.blocked?.reason })),
      )
      const nowMs = clock.monotonicMs()
      if (text === written && nowMs - writtenAtMs < repeatMs) return
      await store.write(reports)
      written = text
      writtenAtMs = nowMs
    },
  }
}

const allPaths: readonly Path[] = ['stream', 'batch']

type Place = { row: Row; path: Path }

const placeOf = ({ key, path }: { key: string; path: Path }) => `${key} ${path}`

/** Lists each model with each path that it supports. */
function places(catalog: Catalog): Place[] {
  catalog.version()
  const rows = stages.flatMap((stage) => catalog.stage(stage))
  return rows.flatMap((row) => {
    const { streaming, batch } = row.model.capabilities
    return allPaths.filter((path) => (path === 'stream' ? streaming : batch)).map((path) => ({ row, path }))
  })
}

function reportsOf({ catalog, health }: Deps): ModelReport[] {
  // This call drops figures and closes circuits whose time is over.
  health.version()
  return places(catalog).flatMap(({ row, path }) => {
    const figures = health.figures(row, path)
    const blocked = health.blocked(row)
    const isSuspect = health.suspects(row.provider)
    if (figures === null && blocked === null && !isSuspect) return []
    const { errorRate = null, firstByteMs = null, realTimeFactor = null, asOfMs = null } = figures ?? {}
    const p95Ms = health.p95(row, path, 'firstByteMs')
    const measured = { errorRate, firstByteMs, p95Ms, realTimeFactor, samples: health.samples(row, path), asOfMs }
    return [{ key: row.key, path, blocked, isSuspect, ...measured }]
  })
}

type Known = Place & { own: Blocked | null; reports: readonly ModelReport[] }

function healthOf(catalog: Catalog, ownKeys: OwnKeys, known: Known): ModelHealth {
  const { row, path, reports } = known
  const { provider, model } = row
  const isOwn = ownKeyIdOf(provider, ownKeys) !== null
  const unavailable = catalog.unavailable(provider)
  const hasCredential = isOwn || unavailable !== noCredential
  const keySource = isOwn ? ('BYOK' as const) : hasCredential && provider.forKey ? ('MANAGED' as const) : null
  return {
    ...{ provider: provider.id, stage: model.stage, model: model.id, path, keySource },
    ...(hasCredential ? stateOf(unavailable === noCredential ? null : unavailable, isOwn, known) : withoutCredential),
    errorRate: mostOf(reports, 'errorRate'),
    firstByteMs: mostOf(reports, 'firstByteMs'),
    p95Ms: mostOf(reports, 'p95Ms'),
    realTimeFactor: mostOf(reports, 'realTimeFactor'),
    samples: reports.reduce((sum, { samples }) => sum + samples, 0),
    asOfMs: mostOf(reports, 'asOfMs'),
    processes: reports.length,
  }
}

type State = Pick<ModelHealth, 'state' | 'reason' | 'retryAfterMs'>

const withoutCredential: State = { state: 'no_credential', reason: noCredential, retryAfterMs: null }

/** Returns the worst state in any process. */
function stateOf(unavailable: string | null, isOwn: boolean, { own, reports }: Known): State {
  if (unavailable !== null) return { state: 'open', reason: unavailable, retryAfterMs: null }
  const blocks = [own, ...reports.map(({ blocked }) => blocked)].flatMap((blocked) => blocked ?? [])
  // If the organization has its own key, the operator's credential may pause without an effect.
  const worst = blocks
    .filter((blocked) => blocked === own || !isOwn || blocked.reason === 'circuit_open')
    .sort((a, b) => b.retryAfterMs - a.retryAfterMs)[0]
  if (worst) return { state: 'open', reason: worst.reason, retryAfterMs: Math.ceil(worst.retryAfterMs) }
  if (reports.some(({ isSuspect }) => isSuspect)) return { state: 'degraded', reason: 'outage', retryAfterMs: null }
  const rate = mostOf(reports, 'errorRate')
  if (rate !== null && rate >= degradedRate) return { state: 'degraded', reason: 'failures', retryAfterMs: null }
  return { state: rate === null ? 'unknown' : 'ok', reason: null, retryAfterMs: null }
}

type Figure = 'errorRate' | 'firstByteMs' | 'p95Ms' | 'realTimeFactor' | 'asOfMs'

function mostOf(reports: readonly ModelReport[], figure: Figure): number | null {
  const values = reports.flatMap((report) => report[figure] ?? [])
  return values.length === 0 ? null : Math.max(...values)
}
