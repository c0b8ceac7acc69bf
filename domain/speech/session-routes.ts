/**
 * Chooses the routes for a session's speech to text, LLM and text to speech: converts the session's settings to routing
 * requests, and checks that each request has a candidate.
 */
import type { Catalog } from '../catalog/catalog.ts'
import { isPresetVoice, type VoiceWish } from '../catalog/voices.ts'
import type { Capability, Stage } from '../ports/model.ts'
import type { Provider } from '../ports/provider.ts'
import { callerAudio } from '../ports/vad.ts'
import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import type { Pipeline } from '../records/pipeline.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { type Ask, baseAsk, type Routing } from '../routing/ask.ts'
import type { Chooser } from '../routing/chooser.ts'
import { routingOfName } from '../routing/model-name.ts'
import { castSpeech } from './spoken-form.ts'
import { streamAsk } from './stream-request.ts'

type Settings = Pick<Pipeline, 'intent' | 'constraints' | 'llm' | 'sttOptions' | 'ttsOptions' | 'voice' | 'tools'>

/**
 * Returns the routing for a stage: speech to text, LLM or text to speech. Speech to text cannot be pinned. Throws a
 * fault if a name is unknown, ambiguous or not allowed.
 */
export function routingOfStage(catalog: Catalog, caller: Caller, settings: Settings, stage: Stage): Routing {
  const { intent, constraints } = settings
  const name = { stt: null, llm: settings.llm.model, tts: settings.ttsOptions.model }[stage]
  return routingOfName(catalog, {
    stage,
    name: name ?? undefined,
    objective: intent.optimizeFor,
    region: intent.region ?? undefined,
    allowProviders: constraints.allowedProviders[stage],
    aliases: caller.policy.aliases,
  })
}

/**
 * Returns the input fields for choosing a speech-to-text route. The check before a session and the stream itself both
 * use them.
 */
export function recognitionOf({
  intent,
  sttOptions: { keywords, prompt, language },
}: Pick<Settings, 'intent' | 'sttOptions'>) {
  const detectsLanguage = language === 'auto'
  return {
    language: detectsLanguage ? intent.language : (language ?? intent.language),
    detectsLanguage,
    strictHints: true,
    audio: callerAudio,
    words: false,
    ...(keywords.length > 0 && { keywords }),
    ...(prompt !== null && { prompt }),
  }
}

export function voiceWishOf({ voice }: Pick<Settings, 'voice'>): VoiceWish {
  if (voice === null || voice === 'auto') return {}
  return isPresetVoice(voice) ? { preset: voice } : { voice }
}

export interface SessionRoutes {
  /**
   * Throws the fault if speech to text, the LLM or text to speech has no candidate, because a filter excludes all rows
   * or no row can be called now. If no row has the voice, throws ResourceFault with an issue in the request.
   */
  require(caller: Caller, settings: Settings): void
  /** Warms up the likely providers for the session, so that its first turn does not wait. Never throws. */
  warmUp(caller: Caller, settings: Settings): void
}

export function createSessionRoutes(
  chooser: Chooser,
  warmUp: (stage: Stage, provider: Provider, model: string) => void,
): SessionRoutes {
  return {
    require: (caller, settings) => requireRoutes(chooser, caller, settings),
    warmUp(caller, settings) {
      for (const ask of asksNow(chooser.world.catalog, caller, settings)) {
        const first = chooser.choose(ask).candidates[0]
        if (first !== undefined) warmUp(ask.stage, first.row.provider, first.row.model.id)
      }
    },
  }
}

/**
 * Returns the asks for speech to text, LLM and text to speech. The list is empty if the catalog no longer contains the
 * models in the settings. The conversation then reports this.
 */
function asksNow(catalog: Catalog, caller: Caller, settings: Settings): Ask[] {
  try {
    return asksOf(catalog, caller, settings)
  } catch (error) {
    if (error instanceof Fault) return []
    throw error
  }
}

function requireRoutes(chooser: Chooser, caller: Caller, settings: Settings): void {
  for (const ask of asksOf(chooser.world.catalog, caller, settings)) {
    try {
      chooser.chooseSome(ask)
    } catch (error) {
      if (!(error instanceof Fault) || error.data.kind !== 'voice_unknown') throw error
      throw new ResourceFault({
        kind: 'invalid',
        issues: [{ path: ['voice'], problem: { kind: 'voice_unknown', fault: error.data } }],
      })
    }
  }
}

function asksOf(catalog: Catalog, caller: Caller, settings: Settings): Ask[] {
  const { intent, tools, llm } = settings
  const routing = (stage: Stage) => routingOfStage(catalog, caller, settings, stage)
  const llmNeeds: Capability[] = ['streaming']
  if (tools.length > 0) llmNeeds.push('tools')
  if (llm.reasoningEffort !== null) llmNeeds.push('reasoning')
  const { language } = intent
  const { speed, instructions, sampleRate } = settings.ttsOptions
  const { ask } = castSpeech(
    {
      ...voiceWishOf(settings),
      caller,
      routing: routing('tts'),
      language,
      speed,
      ...(instructions !== null && { instructions }),
      outputFormat: { encoding: 'pcm_s16le', sampleRateHz: sampleRate, channels: 1 },
    },
    catalog,
  )
  return [
    streamAsk({ caller, routing: routing('stt'), ...recognitionOf(settings) }),
    baseAsk(caller, 'llm', routing('llm'), language, llmNeeds),
    ask,
  ]
}
