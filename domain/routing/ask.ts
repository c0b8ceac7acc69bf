import { defaultLanguage, type Language, readLanguage } from '../catalog/language.ts'
import { wishOfKey } from '../catalog/voices.ts'
import type { Capability, Objective, Path, Stage } from '../ports/model.ts'
import type { Caller, OwnKeys } from '../records/organization.ts'

/** The caller's decision about the route. The two arms share no field. */
export type Routing =
  | {
      mode: 'auto'
      objective: Objective
      allowProviders?: readonly string[]
      denyProviders?: readonly string[]
      /** A wish: of equal candidates those of this region come first. */
      region?: string
    }
  | { mode: 'explicit'; provider: string; model: string }

export type AskedAudio = { encoding: string; sampleRateHz: number; channels: number }

/** Everything that a route is chosen by, as plain data: equal asks have equal choices until the catalog or the health changes. */
export type Ask = {
  stage: Stage
  /** The figures of this path rank the candidates. */
  path: Path
  routing: Routing
  /** Filters and ranks. */
  language: Language | null
  /** A model that serves one language only cannot serve this: the provider detects the language. */
  detectsLanguage: boolean
  /** Ranks when `language` is null. */
  figuresLanguage: Language
  needs: readonly Capability[]
  voice: string | null
  /** The audio that a provider must take (STT) or emit (TTS) as it is, because it is not converted here. */
  audio: AskedAudio | null
  access: Access
}

/** The part of the catalog that the caller's key reaches. All requests of a caller share one object, so that the chooser recognizes it. */
export type Access = {
  test: boolean
  allowProviders: readonly string[] | null
  /** Pinned ids in the order in which auto routing tries them. */
  chain: readonly string[] | null
  /** Providers that can be called although the operator has no credential for them. */
  ownKeys: OwnKeys
}

/** The figures a request is ranked by. An LLM is one identity however it is read, and its figures are those of the stream. */
const requestPath: Record<Stage, Path> = { stt: 'batch', tts: 'stream', llm: 'stream' }

const none: readonly Capability[] = []

/** The capabilities that every one-shot request needs. */
const requestNeeds: Record<Stage, readonly Capability[]> = { stt: ['batch'], tts: [], llm: [] }

/**
 * The ask that the caller's key and routing give: the base of requests, preview and the models list. `needs` are those of the request.
 * Throws the fault bad_language_tag.
 */
export function baseAsk(
  caller: Caller,
  stage: Stage,
  routing: Routing,
  language: string | undefined,
  needs: readonly Capability[] = none,
): Ask {
  const spoken = language ?? caller.policy.language
  const asked = spoken === undefined ? null : readLanguage(spoken)
  return {
    stage,
    path: requestPath[stage],
    routing,
    language: asked,
    detectsLanguage: false,
    figuresLanguage: asked ?? { tag: defaultLanguage, base: defaultLanguage },
    needs: needs.length === 0 ? requestNeeds[stage] : [...requestNeeds[stage], ...needs],
    voice: (stage === 'tts' ? wishOfKey(caller.policy.voice).voice : null) ?? null,
    audio: null,
    access: accessOf(caller, stage),
  }
}

const accesses = new WeakMap<Caller, Partial<Record<Stage, Access>>>()

function accessOf(caller: Caller, stage: Stage): Access {
  const ofCaller = accesses.get(caller) ?? {}
  accesses.set(caller, ofCaller)
  const { allowProviders, chain } = caller.policy
  return (ofCaller[stage] ??= {
    test: caller.test,
    allowProviders: allowProviders ?? null,
    chain: chain?.[stage] ?? null,
    ownKeys: caller.organization.ownKeys,
  })
}
