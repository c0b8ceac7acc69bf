import type { InternalHandlers } from '../../generated/internal/handlers.ts'

/** One thing that must hold before requests are sent here; `check` answers what is wrong, or null. */
export type ReadyCheck = { name: string; check: () => Promise<string | null> }

const headers = { 'Cache-Control': 'no-store' } as const

export function createHealth(checks: readonly ReadyCheck[]): Pick<InternalHandlers<null>, 'getHealth' | 'getReady'> {
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
      const body = { ready, checks: results }
      return ready ? { status: 200, headers, body } : { status: 503, headers, body }
    },
  }
}
