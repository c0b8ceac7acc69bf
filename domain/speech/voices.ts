import type { Row } from '../catalog/catalog.ts'
import { baseOf, type Language } from '../catalog/language.ts'
import type { Voice } from '../catalog/model.ts'

type Gender = Voice['gender']

/** The names that OpenAI's clients send, with the voice that they stand for. */
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

/** Whether a voice of the compatible surface names a preset, and not a voice id of one provider. */
export function isPresetVoice(name: string): boolean {
  return genderOfPreset.has(name)
}

/** What a request says of the voice. `auto` says nothing. */
export type VoiceWish = {
  /** A voice id of one provider: it restricts the routing. */
  voice?: string
  /** A name that any provider has a voice for: it restricts nothing. */
  preset?: string
}

/** The voice id that routing must respect: the request's own, then, unless a preset is asked for, the key's. */
export function routedVoice({ voice, preset }: VoiceWish, ofKey: string | null): string | null {
  if (asked(voice) !== undefined) return voice ?? null
  return asked(preset) === undefined ? ofKey : null
}

/**
 * Chooses a voice for each row that a request is sent to. What a voice id leaves open is decided by the gender and the language: those of the
 * preset, else of the voice that the first row speaks with by itself, so that a failover does not change the speaker's sex
 * in front of a listener.
 */
export class Casting {
  readonly #voice: string | null
  readonly #preset: string | undefined
  readonly #language: string | null
  /** The voice that nobody asked for, of the first row. */
  #first: Voice | undefined
  #begun = false

  /** `voice` is what `routedVoice` answered. */
  constructor(voice: string | null, preset: string | undefined, language: Language | null) {
    this.#voice = voice
    this.#preset = voice === null ? asked(preset) : undefined
    this.#language = language?.base ?? null
  }

  /** Undefined is the provider's own default. To be asked in the order of the attempts. */
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

function asked(name: string | undefined): string | undefined {
  return name === undefined || name === 'auto' ? undefined : name
}
