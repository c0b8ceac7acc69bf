import type { OutputFormat } from '../../audio/format.ts'
import type { Caller } from '../access/organization.ts'
import type { Row } from '../catalog/catalog.ts'
import { spoken } from '../catalog/language.ts'
import type { Capability } from '../catalog/model.ts'
import type { Routing } from '../routing/ask.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'
import type { TtsRequest } from './tts.ts'
import { routedVoice, type VoiceWish } from './voices.ts'

/** The voice, the manner and the audio format in which text is to be spoken, for one text or for a stream. */
export type SpokenForm = VoiceWish & {
  caller: Caller
  routing: Routing
  language?: string
  instructions?: string
  speed?: number
  wanted: OutputFormat
  /** A model without instructions or speed gets none of them and stays a candidate. */
  lenient?: true
}

/** Throws the fault bad_language_tag. */
export function speechAsk(form: SpokenForm): Ask {
  const { caller, routing, language, instructions, wanted } = form
  const ask = baseAsk(caller, 'tts', routing, language)
  const needs: Capability[] = []
  if (instructions && !form.lenient) needs.push('instructions')
  if (changesSpeed(form) && !form.lenient) needs.push('speed')
  return {
    ...ask,
    needs: [...ask.needs, ...needs],
    voice: routedVoice(form, ask.voice),
    // Samples are resampled and encoded here; Opus comes from the provider or not at all.
    audio: wanted.encoding === 'opus' ? { ...wanted } : null,
  }
}

export function ttsRequest(
  row: Row,
  form: SpokenForm,
  { language }: Ask,
  voice: string | undefined,
  text: string,
): TtsRequest {
  const { instructions, wanted } = form
  const { capabilities } = row.model
  return {
    model: row.model.id,
    text,
    wanted,
    ...(voice !== undefined && { voice }),
    ...(language && { language: spoken(row.model.languages, language) }),
    ...(instructions && capabilities.instructions && { instructions }),
    ...(changesSpeed(form) && capabilities.speed && { speed: form.speed }),
  }
}

/** 1 is the voice's usual speed. It needs no capability and is not sent, because some providers lack the setting. */
function changesSpeed(form: SpokenForm): form is SpokenForm & { speed: number } {
  return form.speed !== undefined && form.speed !== 1
}

const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/g

/** The characters that are billed, as a reader counts them: an emoji is one and not two. */
export function charactersOf(text: string): number {
  return text.length - (text.match(surrogatePair)?.length ?? 0)
}
