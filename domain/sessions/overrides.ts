import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import type { ClientOverride, Pipeline } from '../records/pipeline.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { SessionRoutes } from '../speech/session-routes.ts'

/** Settings that a browser page overrides when it joins a session. */
export type SessionOverrides = Partial<OverrideValues>
type OverrideValues = Record<Exclude<ClientOverride, 'speed'>, string> & { speed: number }

/**
 * `pipeline` is null if there are no overrides. `unserved` lists overrides dropped because no provider can serve them.
 */
export type AppliedOverrides = { pipeline: Pipeline | null; unserved: readonly ClientOverride[] }

/**
 * Groups of overrides with an effect on the choice of providers. If no provider can serve the session with all
 * overrides, one group is dropped: the first group without which the session can be served.
 */
const routed: readonly (readonly ClientOverride[])[] = [
  [],
  ['voiceId'],
  ['language'],
  ['speed'],
  ['language', 'voiceId'],
  ['language', 'voiceId', 'speed'],
]

/**
 * Applies the overrides. If no provider serves them all, drops one group from `routed`. If no such removal helps, the
 * session cannot be served anyway, so all overrides are applied.
 */
export function takeOverrides(
  routes: SessionRoutes,
  caller: Caller,
  pipeline: Pipeline,
  overrides: SessionOverrides,
): AppliedOverrides {
  if (Object.keys(overrides).length === 0) return { pipeline: null, unserved: [] }
  for (const names of routed) {
    const unserved = names.filter((name) => overrides[name] !== undefined)
    const changed = overridden(pipeline, without(overrides, unserved))
    if (isServed(routes, caller, changed)) return { pipeline: changed, unserved }
  }
  return { pipeline: overridden(pipeline, overrides), unserved: [] }
}

function isServed(routes: SessionRoutes, caller: Caller, pipeline: Pipeline): boolean {
  try {
    routes.require(caller, pipeline)
    return true
  } catch (error) {
    if (error instanceof Fault || error instanceof ResourceFault) return false
    throw error
  }
}

function without(overrides: SessionOverrides, names: readonly string[]): SessionOverrides {
  return Object.fromEntries(Object.entries(overrides).filter(([name]) => !names.includes(name)))
}

/** Applies the overrides to the pipeline. The session must allow each override. The calling code has checked this. */
function overridden(pipeline: Pipeline, overrides: SessionOverrides): Pipeline {
  const { prompt, firstMessage, language, voiceId, speed } = overrides
  return {
    ...pipeline,
    ...(prompt !== undefined && { systemPrompt: prompt }),
    ...(firstMessage !== undefined && firstMessageOf(firstMessage)),
    ...(voiceId !== undefined && { voice: voiceId }),
    ...(language !== undefined && { intent: { ...pipeline.intent, language } }),
    ...(speed !== undefined && { ttsOptions: { ...pipeline.ttsOptions, speed } }),
  }
}

function firstMessageOf(text: string): Pick<Pipeline, 'firstMessage' | 'firstMessageMode'> {
  return text === ''
    ? { firstMessage: null, firstMessageMode: 'listen' }
    : { firstMessage: text, firstMessageMode: 'message' }
}
