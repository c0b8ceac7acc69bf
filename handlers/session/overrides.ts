import type { ClientOverride } from '../../domain/records/pipeline.ts'
import type { SessionOverrides } from '../../domain/sessions/overrides.ts'
import type { OverridesFrame } from '../../generated/session/types.ts'

/** Returns the overrides that the session allows, and the names of the refused overrides. */
export function sortOverrides(
  { overrides: { agent = {}, tts = {} } }: OverridesFrame,
  allowed: readonly ClientOverride[],
): { accepted: SessionOverrides; refused: string[] } {
  const entries = Object.entries({ ...agent, ...tts }) as [ClientOverride, string | number][]
  const isAllowed = ([name]: [ClientOverride, unknown]) => allowed.includes(name)
  return {
    accepted: Object.fromEntries(entries.filter(isAllowed)),
    refused: entries.filter((entry) => !isAllowed(entry)).map(([name]) => name),
  }
}
