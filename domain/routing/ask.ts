import { defaultLanguage, type Language, readLanguage } from '../catalog/language.ts'
import { type Gender, genderOf, wishOfKey } from '../catalog/voices.ts'
import type { Capability, Objective, Path, Stage } from '../ports/model.ts'
import type { Caller, OwnKeys } from '../records/organization.ts'

/** The request's rule for choosing the provider and the model. The two forms have no common field. */
export type Routing =
  | {
      mode: 'auto'
      objective: Objective
      allowProviders?: readonly string[]
      denyProviders?: readonly string[]
      /** The preferred region. It only orders candidates with otherwise equal ranks. */
      region?: string
    }
  | { mode: 'explicit'; provider: string; model: string }

export type RequiredAudio = { encoding: string; sampleRateHz: number; channels: number }

/**
 * The input for choosing a route, as plain data. Equal asks give equal choices until the catalog or the health changes.
 */
export type Ask = {
  stage: Stage
  /** The figures for this path (stream or batch) rank the candidates. */
  path: Path
  routing: Routing
  /**
   * Models without this language are excluded. The other models are ranked by their figures for it. Null if no language
   * was requested.
   */
  language: Language | null
  /** If true, the provider must detect the language, so models with only one language are excluded. */
  detectsLanguage: boolean
  /** Candidates are ranked by figures for this language if `language` is null. */
  figuresLanguage: Language
  needs: readonly Capability[]
  voice: string | null
  /**
   * The gender of the requested voice. Models with such a voice come first. Null if the request names a voice id, or no
   * gender.
   */
  gender: Gender | null
  /** The provider must accept (STT) or produce (TTS) this audio format, because audio is not converted here. */
  audio: RequiredAudio | null
  access: Access
}

/**
 * The part of the catalog that the API key allows. All requests with the same key share one object, so the chooser can
 * compare it by identity.
 */
export type Access = {
  test: boolean
  allowProviders: readonly string[] | null
  /** The API key's list of models. Auto routing tries them in this order. */
  chain: readonly string[] | null
  /**
   * The organization's provider keys. Their providers can be called even if the operator has no credential for them.
   */
  ownKeys: OwnKeys
}

/**
 * The path (stream or batch) whose figures rank the requests to speech to text, text to speech or an LLM. LLMs have
 * figures only for `stream`, so these figures also rank requests for whole answers.
 */
const requestPath: Record<Stage, Path> = { stt: 'batch', tts: 'stream', llm: 'stream' }

const none: readonly Capability[] = []

/** Every one-shot request needs these capabilities. */
const requestNeeds: Record<Stage, readonly Capability[]> = { stt: ['batch'], tts: [], llm: [] }

/**
 * Makes the ask from the API key and the request's routing. Requests, preview and the models list start from it.
 * `needs` are the request's needed capabilities. Throws the fault `bad_language_tag`.
 */
export function baseAsk(
  caller: Caller,
  stage: Stage,
  routing: Routing,
  language: string | undefined,
  needs: readonly Capability[] = none,
): Ask {
  const spoken = language ?? caller.policy.language
  const wish = stage === 'tts' ? wishOfKey(caller.policy.voice) : {}
  const spokenLanguage = spoken === undefined ? null : readLanguage(spoken)
  return {
    stage,
    path: requestPath[stage],
    routing,
    language: spokenLanguage,
    detectsLanguage: false,
    figuresLanguage: spokenLanguage ?? { tag: defaultLanguage, base: defaultLanguage },
    needs: needs.length === 0 ? requestNeeds[stage] : [...requestNeeds[stage], ...needs],
    voice: wish.voice ?? null,
    gender: genderOf(wish),
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
