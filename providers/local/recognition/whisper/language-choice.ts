/**
 * Chooses the languages in which a segment is decoded. The decoder's first step gives each language a probability, its
 * share. If no language is probable enough, the segment is decoded in several languages, and the likeliest text
 * decides: in a wrong language the text is misspelt, and therefore unlikely.
 *
 *   it 0.74  La conferenza sta ora blochiada.          -0.32 for each token
 *   es 0.21  La conferencia está ahora bloqueada.      -0.08 for each token: chosen
 */
import { logOfSum } from '../log-of-sum.ts'
import type { SpeechLanguage } from '../speech-model.ts'
import { languageOf, whisperCodeOf } from './languages.ts'
import type { Vocabulary } from './vocabulary.ts'

/** `code` is Whisper's code. `share` is the language's probability. */
export type LanguageCandidate = { code: string; share: number }

/** The likeliest language is chosen at once if it has this share. */
const clearShare = 0.8
/** The previous segment's language is chosen at once if it has this share. */
const lastShareMin = 0.1
/**
 * Otherwise the segment is decoded in up to `triedMax` languages. All but the likeliest need at least this share,
 * because each language takes as long as a transcript.
 */
const triedShareMin = 0.05
const triedMax = 4
/** The weight for a language's share beside its text's mean likelihood. */
const shareWeight = 0.1
/** Latin is recognized only on request, because short Spanish sentences are often taken for Latin. */
const neverFound = 'la'

/** Returns at least one candidate, the likeliest first. The decoder's first step has returned `logits`. */
export function languageCandidates(
  logits: Float32Array,
  { languages }: Vocabulary,
  { requested, last }: SpeechLanguage,
): LanguageCandidate[] {
  const known = requested === null ? undefined : whisperCodeOf(requested)
  if (known !== undefined) return [{ code: known, share: 1 }]
  const whole = logOfSum(Float32Array.from(languages.keys(), (token) => logits[token] as number))
  const ranked = [...languages]
    .filter(([, code]) => code !== neverFound)
    .map(([token, code]) => ({ code, share: Math.exp((logits[token] as number) - whole) }))
    .sort((a, b) => b.share - a.share)
  const lastCandidate = ranked.find(({ code }) => languageOf(code) === last)
  if (lastCandidate && lastCandidate.share >= lastShareMin) return [lastCandidate]
  const [first, ...others] = ranked as [LanguageCandidate, ...LanguageCandidate[]]
  if (first.share >= clearShare) return [first]
  return [first, ...others.slice(0, triedMax - 1).filter(({ share }) => share >= triedShareMin)]
}

/** Rates a text in a language. `meanLog` is the mean logarithm of its tokens' probabilities. */
export function ratingOf({ share }: LanguageCandidate, meanLog: number): number {
  return meanLog + shareWeight * Math.log(share)
}
