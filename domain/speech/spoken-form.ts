import type { OutputFormat } from '../../audio/format.ts'
import type { Catalog, Row } from '../catalog/catalog.ts'
import { spoken } from '../catalog/language.ts'
import { Casting, decidingWish, genderOf, type VoiceWish, wishOfKey } from '../catalog/voices.ts'
import type { Capability } from '../ports/model.ts'
import type { TtsRequest } from '../ports/tts.ts'
import type { Caller } from '../records/organization.ts'
import type { Routing } from '../routing/ask.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'

/** The form of speech output: voice, manner and audio format, for a single text or for a stream. */
export type SpokenForm = VoiceWish & {
  caller: Caller
  routing: Routing
  language?: string
  instructions?: string
  speed?: number
  outputFormat: OutputFormat
  /**
   * If true, instructions or speed are left out for a model that does not support them, so the model stays a candidate.
   */
  lenient?: true
}

/** Returns the ask for a speech request, and the voice for each candidate. Throws the fault `bad_language_tag`. */
export function castSpeech(form: SpokenForm, catalog: Catalog): { ask: Ask; casting: Casting } {
  const { caller, routing, language, instructions, outputFormat } = form
  const base = baseAsk(caller, 'tts', routing, language)
  const needs: Capability[] = []
  if (instructions && !form.lenient) needs.push('instructions')
  if (changesSpeed(form) && !form.lenient) needs.push('speed')
  const wish = decidingWish(form, reachableWish(wishOfKey(caller.policy.voice), routing, catalog))
  const ask: Ask = {
    ...base,
    needs: [...base.needs, ...needs],
    voice: wish.voice ?? null,
    gender: genderOf(wish),
    // This server converts sample formats, so any model can serve them. It does not encode Opus, so Opus must come from
    // the provider.
    audio: outputFormat.encoding === 'opus' ? { ...outputFormat } : null,
  }
  return { ask, casting: new Casting(wish, ask.language) }
}

/**
 * Returns the API key's voice if the routing allows a provider with this voice. A pin has priority over the key's voice
 * id: if a pinned model is known to lack the voice, it speaks with its default voice.
 */
function reachableWish(ofKey: VoiceWish, routing: Routing, catalog: Catalog): VoiceWish {
  const { voice } = ofKey
  if (voice === undefined || routing.mode === 'auto') return ofKey
  const pinned = catalog.find('tts', routing.provider, routing.model)
  if (pinned === undefined || pinned.voices.has(voice)) return ofKey
  // If the model lists no voices, it may have this voice, unless another provider is known to have it.
  const isElsewhere = pinned.voices.size > 0 || catalog.stage('tts').some(({ voices }) => voices.has(voice))
  return isElsewhere ? {} : ofKey
}

export function ttsRequest(
  row: Row,
  form: SpokenForm,
  { language }: Ask,
  voice: string | undefined,
  text: string,
): TtsRequest {
  const { instructions, outputFormat } = form
  const { capabilities, languages, acceptsRegions } = row.model
  return {
    model: row.model.id,
    text,
    outputFormat,
    ...(voice !== undefined && { voice }),
    ...(language && { language: acceptsRegions ? language.tag : spoken(languages, language) }),
    ...(instructions && capabilities.instructions && { instructions }),
    ...(changesSpeed(form) && capabilities.speed && { speed: form.speed }),
  }
}

export type Manner = 'instructions' | 'speed'

/** If the form is lenient, returns the settings that this model does not support: instructions or speed. */
export function mannersBeyond({ model: { capabilities } }: Row, form: SpokenForm): Manner[] {
  const beyond: Manner[] = []
  if (form.instructions && !capabilities.instructions) beyond.push('instructions')
  if (changesSpeed(form) && !capabilities.speed) beyond.push('speed')
  return beyond
}

/**
 * Returns true if the speed differs from 1, the voice's usual speed. A speed of 1 needs no capability and is not sent,
 * because some providers do not have this setting.
 */
function changesSpeed(form: SpokenForm): form is SpokenForm & { speed: number } {
  return form.speed !== undefined && form.speed !== 1
}
