import type { Voice } from '../ports/model.ts'
import type { Row } from './catalog.ts'
import { baseOf, type Language } from './language.ts'

type Gender = Voice['gender']

/** The compatible surface's preset names, each with its voice's gender. */
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

/** True for a preset name on the compatible surface, false for a provider's voice id. */
export function isPresetVoice(name: string): boolean {
  return genderOfPreset.has(name)
}

/** A preset with this gender, to ask another provider for a similar voice. */
export function presetOfGender(gender: Voice['gender']): string {
  return { female: 'nova', male: 'onyx', neutral: 'alloy' }[gender]
}

/** The requested voice. `auto` is the same as no voice. */
export type VoiceWish = {
  /** One provider's voice id. It restricts routing. */
  voice?: string
  /** Every provider has a voice for this name. It restricts nothing. */
  preset?: string
}

/** A key's voice as a wish. A preset on a key restricts routing no more than in a request. */
export function wishOfKey(voice: string | undefined): VoiceWish {
  const name = explicitName(voice)
  if (name === undefined) return {}
  return isPresetVoice(name) ? { preset: name } : { voice: name }
}

/** The request's wish decides, then the key's. */
export function decidingWish({ voice, preset }: VoiceWish, ofKey: VoiceWish): VoiceWish {
  const [id, name] = [explicitName(voice), explicitName(preset)]
  if (id !== undefined) return { voice: id }
  return name === undefined ? ofKey : { preset: name }
}

/**
 * Chooses a voice for each row in a request's attempts. If no voice id decides, gender and language do. They come from
 * the preset, or else from the first row's default voice. So a failover does not change the speaker's sex while
 * somebody listens.
 */
export class Casting {
  readonly #voice: string | null
  readonly #preset: string | undefined
  readonly #language: string | null
  /** The default voice of the first row, if the request asks for no voice. */
  #first: Voice | undefined
  #begun = false

  /** `wish` is the result of `decidingWish`. */
  constructor({ voice, preset }: VoiceWish, language: Language | null) {
    this.#voice = voice ?? null
    this.#preset = preset
    this.#language = language?.base ?? null
  }

  /** Undefined is the provider's default voice. Must be called in the order of the attempts. */
  voiceFor({ model, voices }: Row): string | undefined {
    if (this.#voice !== null) return this.#voice
    if (this.#preset !== undefined) return this.#forPreset(this.#preset, { model, voices })
    if (this.#begun) return this.#first && this.#like(model.voices, this.#first.gender, this.#first.language)
    this.#begun = true
    // By the catalog's convention the first voice of a row is its default.
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
    const speaks = ({ language: own }: Voice) => language === null || own === undefined || baseOf(own) === language
    return voices.find((voice) => voice.gender === gender && speaks(voice))?.id
  }
}

function explicitName(name: string | undefined): string | undefined {
  return name === undefined || name === 'auto' ? undefined : name
}
