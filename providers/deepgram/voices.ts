/**
 * Aura 2's voices. To Deepgram each voice is a separate model, `aura-2-thalia-en`. In the catalog `aura-2` is the model
 * and `aura-2-thalia-en` one voice: all voices have the same price and latency, so they share a row, and a request can
 * choose a voice by name, language or gender. In requests to the vendor, the field `model` holds the voice id.
 */
import type { Voice } from '../../domain/ports/model.ts'

/**
 * Returns a voice for a request without a voice: the language's first voice, or without a language the first in the
 * list.
 */
export function voiceFor(language: string | undefined): string {
  const base = language?.split('-')[0]
  return (aura2Voices.find((voice) => voice.language === base) ?? aura2Voices[0])?.id ?? ''
}

type Cast = { language: string; female: string; male: string }

const cast: readonly Cast[] = [
  {
    language: 'en',
    female:
      'thalia andromeda helena amalthea asteria athena aurora callista cora cordelia delia electra harmonia hera iris janus juno luna minerva ophelia pandora phoebe selene theia vesta',
    male: 'apollo arcas aries atlas draco hermes hyperion jupiter mars neptune odysseus orion orpheus pluto saturn zeus',
  },
  {
    language: 'es',
    female: 'celeste estrella carina diana selena agustina antonia gloria olivia silvia',
    male: 'nestor sirio alvaro aquila javier luciano valerio',
  },
  { language: 'de', female: 'viktoria elara aurelia lara kara', male: 'julius fabian' },
  { language: 'fr', female: 'agathe', male: 'hector' },
  { language: 'nl', female: 'rhea beatrix daphne cornelia hestia leda', male: 'sander lars roman' },
  { language: 'it', female: 'livia melia maia cinzia demetra', male: 'dionisio elio flavio cesare' },
  { language: 'ja', female: 'izanami uzume ama', male: 'fujin ebisu' },
]

export const aura2Voices: readonly Voice[] = cast.flatMap(({ language, female, male }) => [
  ...voices(language, female, 'female'),
  ...voices(language, male, 'male'),
])

export const aura2Languages: readonly string[] = cast.map(({ language }) => language)

function voices(language: string, names: string, gender: Voice['gender']): Voice[] {
  return names.split(' ').map((name) => ({
    id: `aura-2-${name}-${language}`,
    name: `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    gender,
    styles: [],
    language,
  }))
}
