/**
 * Finds how far a known text was spoken in audio that may be cut at any position. The recognizer does not choose words.
 * For each position in the text, it rates how likely the text continues there, and how likely it ends there.
 *
 *   audio   We have three rooms wi|            the cut
 *   text    We have three rooms with a view    likely: "with" continues, then the text ends; unlikely: "a" follows
 *
 * The recognizer rates a common phrase as likely even if it was not spoken. So a part of the text's likelihood without
 * audio is subtracted. The words' usual speaking time is rated too.
 *
 * The audio may be cut within the last begun word, so this word does not count as spoken. An earlier word counts only
 * if it was begun some time before the cut, because the model completes a familiar phrase before its last word is
 * spoken.
 */
import { weightOf } from '../../../domain/conversation/words/word-weight.ts'
import { type Followed, type Moonshine, tokensOf } from './moonshine.ts'
import { numberWords } from './number-words.ts'
import { speechRateHz } from './speech-model.ts'

/** A word counts as spoken if it was begun at least this long before the cut. */
const begunMs = 180
/** `familiarPart` of the likelihood without audio is subtracted. A lower likelihood counts as `unfamiliarLeast`. */
const familiarPart = 0.45
const unfamiliarLeast = -8
/** How much the words' speaking time counts in a score, compared to the words' likelihood. */
const paceWeight = 2
/** If several possible lengths have a score this close to the best score, the shortest is chosen. */
const clearBy = 1
/**
 * The usual number of 10 ms steps with sound per letter, measured with four voices: the mean, and the deviation between
 * voices as a fraction of the mean.
 */
const pace = { mean: 5.2, deviation: 0.3 }
/**
 * Every voice needs at least this many steps per letter. The search stops when the sound is too short for further
 * words.
 */
const stepsLeast = 1.5
/** Variances for the speaking time, in squared letters: a variance for each spoken letter, and a constant variance. */
const variance = { letter: 0.7, start: 14 }
/** The fastest speech, in tokens. Words beyond this rate are not examined, because no voice speaks faster. */
const tokensPerSecondMax = 12
const tokensMin = 12
const stepSamples = speechRateHz / 100
/** A step counts as sound if its peak is above this fraction of the highest peak so far: -29 dB. */
const soundAbove = 0.035
const silenceBelow = 0.001

/**
 * A spoken word, for all or part of a written word: "42" is two units, "forty" and "two". `weight` is its speaking
 * time, in letters.
 */
type Unit = {
  /** The number of tokens up to the unit's end, without the following punctuation (`spoken`) and with it. */
  spoken: number
  whole: number
  weight: number
  /** The position in the text after the written word. Null if more spoken words follow for the same written word. */
  place: number | null
}

/**
 * Implements `Aligner`. Checks the cancel signal between two steps, and rejects with the signal's reason if it was
 * aborted.
 */
export async function alignedPlace(
  moonshine: Moonshine,
  text: string,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<number> {
  const tokensMax = tokensMin + Math.ceil((samples.length / speechRateHz) * tokensPerSecondMax)
  const { units, tokens } = unitsOf(text, tokensMax)
  if (units.length === 0) return 0
  const familiar = await moonshine.follow(tokens, null)
  const begunIn = async (part: Float32Array) => {
    signal.throwIfAborted()
    if (part.length === 0) return 0
    return begun(units, await moonshine.follow(tokens, part), familiar, soundSteps(part))
  }
  const now = await begunIn(samples)
  if (now < 2) return 0
  const before = await begunIn(samples.subarray(0, Math.max(0, samples.length - (begunMs * speechRateHz) / 1000)))
  const wholeUnits = units.slice(0, Math.min(now - 1, before))
  return wholeUnits.findLast(({ place }) => place !== null)?.place ?? 0
}

function unitsOf(text: string, tokensMax: number): { units: Unit[]; tokens: number[] } {
  const units: Unit[] = []
  const tokens: number[] = []
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const [, inner = '', marks = ''] = /^\p{P}*(.*?)(\p{P}*)$/u.exec(word) ?? []
    const parts = numberWords(inner).filter((part) => part !== '')
    for (const [i, part] of parts.entries()) {
      const isLast = i === parts.length - 1
      tokens.push(...tokensOf(part, true))
      const spoken = tokens.length
      if (isLast) tokens.push(...tokensOf(marks, false))
      const place = isLast ? index + word.length : null
      units.push({ spoken, whole: tokens.length, weight: weightOf(word) / parts.length, place })
    }
    if (tokens.length > tokensMax) break
  }
  return { units, tokens }
}

/** Returns how many spoken words were begun before the audio was cut. */
function begun(units: readonly Unit[], followed: Followed, familiar: Followed, steps: number): number {
  const sums = [0]
  for (const [at, likely] of followed.goesOn.entries())
    sums.push((sums[at] as number) + likely - familiarPart * Math.max(unfamiliarLeast, familiar.goesOn[at] as number))
  const scores = [(followed.ends[0] as number) + paceWeight * likelyPace(0, 0, steps)]
  let letters = 0
  for (const { spoken, whole, weight } of units) {
    if (letters * stepsLeast > steps) break
    const stopped = (sums[spoken] as number) + (followed.stops[spoken] as number)
    const ended = (sums[whole] as number) + (followed.ends[whole] as number)
    scores.push(Math.max(stopped, ended) + paceWeight * likelyPace(letters, letters + weight, steps))
    letters += weight
  }
  const most = Math.max(...scores)
  return scores.findIndex((score) => score >= most - clearBy)
}

/**
 * Returns how likely the sound ends within a given word, as a logarithm. `from` and `to` are the word's start and end
 * in letters.
 */
function likelyPace(from: number, to: number, steps: number): number {
  const middle = (from + to) / 2
  const spread = ((to - from) / 2) ** 2 + (pace.deviation * middle) ** 2 + variance.letter * middle + variance.start
  const square = spread * pace.mean ** 2
  return -((steps - middle * pace.mean) ** 2) / (2 * square) - Math.log(square) / 2
}

/** Counts the 10 ms steps with sound. */
function soundSteps(samples: Float32Array): number {
  let peakSoFar = silenceBelow / soundAbove
  let steps = 0
  for (let from = 0; from + stepSamples <= samples.length; from += stepSamples) {
    let peak = 0
    for (let at = from; at < from + stepSamples; at++) peak = Math.max(peak, Math.abs(samples[at] as number))
    peakSoFar = Math.max(peakSoFar, peak)
    if (peak > soundAbove * peakSoFar) steps++
  }
  return steps
}
