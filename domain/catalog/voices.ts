import type { Voice } from '../ports/model.ts'
import type { Row } from './catalog.ts'
import { baseOf, type Language } from './language.ts'

export type Gender = Voice['gender']

/** The preset voices of the compatible API, each with a gender. */
const genderOfPreset: ReadonlyMap<string, Gender> = new Map([
  ['alloy', 'neutral'],
  ['ash', 'male'],
  ['ballad', 'male'],
  ['cedar', 'male'],
  ['coral', 'female'],
  ['echo', 'male'],
  ['fable', 'neutral'],
  ['marin', 'female'],
  ['nova', 'female'],
  ['onyx', 'male'],
  ['sage', 'female'],
  ['shimmer', 'female'],
  ['verse', 'male'],
])

/** Returns true for a preset voice of the compatible API, and false for a provider's voice id. */
export function isPresetVoice(name: string): boolean {
  return genderOfPreset.has(name)
}

/** Returns a preset with this gender, for asking another provider for a similar voice. */
export function presetOfGender(gender: Voice['gender']): string {
  return { female: 'nova', male: 'onyx', neutral: 'alloy' }[gender]
}

/** The requested voice. `auto` means the same as no voice. */
export type VoiceWish = {
  /** A provider's voice id. Only models with this voice are candidates. */
  voice?: string
  /** A preset's name. Every provider has a voice for it, so it excludes no model. */
  preset?: string
}

/** Reads the voice in an API key's settings. As in a request, a preset excludes no model. */
export function wishOfKey(voice: string | undefined): VoiceWish {
  const name = explicitName(voice)
  if (name === undefined) return {}
  return isPresetVoice(name) ? { preset: name } : { voice: name }
}

/** Returns the gender of a preset. Null if no preset is requested, or a voice id has priority. */
export function genderOf({ voice, preset }: VoiceWish): Gender | null {
  return (voice === undefined && preset !== undefined && genderOfPreset.get(preset)) || null
}

/** Returns true if a model lists its voices, and no voice has this gender and speaks the language. */
export function lacksVoice({ voices }: Pick<Row['model'], 'voices'>, gender: Gender, language: Language | null) {
  return voices.length > 0 && !voices.some((voice) => voice.gender === gender && speaks(voice, language?.base ?? null))
}

/** Returns the request's voice, or the API key's voice if the request names no voice. */
export function decidingWish({ voice, preset }: VoiceWish, ofKey: VoiceWish): VoiceWish {
  const [id, name] = [explicitName(voice), explicitName(preset)]
  if (id !== undefined) return { voice: id }
  return name === undefined ? ofKey : { preset: name }
}

/**
 * Chooses a voice for each catalog row that a request tries. If the request contains no voice id, the voice has the
 * same gender as the preset, or else the same gender and language as the first row's default voice. So a failover does
 * not change the speaker's gender during playback.
 */
export class Casting {
  readonly #voice: string | null
  readonly #preset: string | undefined
  readonly #language: string | null
  /** The first row's default voice, if the request has no voice. */
  #first: Voice | undefined
  #begun = false

  /** `wish` must be the result of `decidingWish`. */
  constructor({ voice, preset }: VoiceWish, language: Language | null) {
    this.#voice = voice ?? null
    this.#preset = preset
    this.#language = language?.base ?? null
  }

  /**
   * Returns the voice for a row, or undefined for the provider's default voice. Must be called in the order of the
   * attempts.
   */
  voiceFor({ model, voices }: Row): string | undefined {
    if (this.#voice !== null) return this.#voice
    if (this.#preset !== undefined) return this.#forPreset(this.#preset, { model, voices })
    if (this.#begun) return this.#first && this.#like(model.voices, this.#first.gender, this.#first.language)
    this.#begun = true
    // In each catalog row the first voice is the default voice.
    this.#first = model.voices[0]
    return undefined
  }

  #forPreset(preset: string, { model, voices }: Pick<Row, 'model' | 'voices'>): string | undefined {
    if (voices.has(preset)) return preset
    const gender = genderOfPreset.get(preset)
    return gender && this.#like(model.voices, gender, undefined)
  }

  #like(voices: readonly Voice[], gender: Gender, spoken: string | undefined): string | undefined {
    const language = this.#language ?? (spoken === undefined ? null : baseOf(spoken))
    return voices.find((voice) => voice.gender === gender && speaks(voice, language))?.id
  }
}

/** Returns true if the voice speaks the base language. A voice without a language speaks all languages. */
function speaks({ language: own }: Voice, language: string | null): boolean {
  return language === null || own === undefined || baseOf(own) === language
}

function explicitName(name: string | undefined): string | undefined {
  return name === undefined || name === 'auto' ? undefined : name
}
