/** The routes of a session's stages: what its settings ask of the router, and whether anything is left. */
import type { Caller } from '../access/organization.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Capability, Stage } from '../catalog/model.ts'
import { Fault } from '../fault.ts'
import { ResourceFault } from '../resource-fault.ts'
import { type Ask, baseAsk, type Routing } from '../routing/ask.ts'
import type { Chooser } from '../routing/chooser.ts'
import { routingOfName } from '../routing/model-name.ts'
import { castSpeech } from '../speech/spoken-form.ts'
import { isPresetVoice, type VoiceWish } from '../speech/voices.ts'
import type { Pipeline } from './pipeline.ts'

type Settings = Pick<Pipeline, 'intent' | 'constraints' | 'llm' | 'sttOptions' | 'ttsOptions' | 'voice' | 'tools'>

/** Speech to text cannot be pinned. Throws the faults of a name that is unknown, ambiguous or not allowed. */
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

/** The language that the recognizer gets. Undefined: it detects the language. */
export function spokenLanguage({ intent, sttOptions }: Pick<Settings, 'intent' | 'sttOptions'>): string | undefined {
  if (sttOptions.language === 'auto') return undefined
  return sttOptions.language ?? intent.language
}

export function voiceWishOf({ voice }: Pick<Settings, 'voice'>): VoiceWish {
  if (voice === null || voice === 'auto') return {}
  return isPresetVoice(voice) ? { preset: voice } : { voice }
}

/**
 * Throws the fault of the first stage that nothing can serve: of a filter that leaves nothing, or that nothing can be
 * called now. A voice that nothing has is an issue of the request.
 */
export function requireRoutes(chooser: Chooser, caller: Caller, settings: Settings): void {
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
      wanted: { encoding: 'pcm_s16le', sampleRateHz: sampleRate, channels: 1 },
    },
    catalog,
  )
  const stt = baseAsk(caller, 'stt', routing('stt'), spokenLanguage(settings))
  return [
    { ...stt, path: 'stream', needs: ['streaming'] },
    baseAsk(caller, 'llm', routing('llm'), language, llmNeeds),
    ask,
  ]
}
