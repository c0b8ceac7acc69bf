/**
 * Finds how far a known text was spoken in audio that is cut anywhere. The recogniser is given the text instead of
 * choosing its own words: for each place it then says how likely the text goes on there, and how likely it ends there.
 *
 *   audio   We have three rooms wi|            the cut
 *   text    We have three rooms with a view    "with" is likely to go on, "a" is not, and the end behind "with" is
 *
 * A model of language also finds a usual phrase likely that was not spoken, so a part of the likelihood that the text has
 * without any audio is taken off. The time that the words need is weighed in as well.
 *
 * The last word that was begun may have been cut. So only the words before it count, and of these only the ones that were
 * begun some time before the cut, because the model completes a familiar phrase before its last word is spoken.
 */
import { weightOf } from '../../domain/conversation/words/word-weight.ts'
import { type Followed, type Moonshine, moonshineRateHz, tokensOf } from './moonshine.ts'
import { numberWords } from './number-words.ts'

/** A word that counts was begun this much before the cut. */
const begunMs = 180
/** The part of the likelihood without audio that is taken off, and the least that is taken for it. */
const familiarPart = 0.45
const unfamiliarLeast = -8
/** How much the time that the words need weighs against their likelihood. */
const paceWeight = 2
/** A longer text must be more likely by this than a shorter one. */
const clearBy = 1
/** In steps of sound for a letter, over four voices: the mean, and the deviation of a voice from it as a part of it. */
const pace = { mean: 5.2, deviation: 0.3 }
/** No voice needs fewer steps for a letter, so words that would are not found. */
const stepsLeast = 1.5
/** In squared letters: of the time for a letter, and of the start. */
const variance = { letter: 0.7, start: 14 }
/** No voice is faster than this, so later words need not be looked at. */
const tokensPerSecondMax = 12
const tokensMin = 12
const stepSamples = moonshineRateHz / 100
/** A step is sound if its peak is above this part of the highest peak so far: -29 dB. */
const soundAbove = 0.035
const silenceBelow = 0.001

/** A part of a word that is spoken as a word. `weight` is the time that it needs, in letters. */
type Unit = {
  /** The numbers of tokens up to its end without and with the punctuation behind it. */
  spoken: number
  whole: number
  weight: number
  /** The place behind its word in the text, if it is the last unit of it. */
  place: number | null
}

/** See `Aligner`. Checks the signal between two steps and rejects with its reason. */
export async function alignedPlace(
  moonshine: Moonshine,
  text: string,
  samples: Float32Array,
  signal: AbortSignal,
): Promise<number> {
  const tokensMax = tokensMin + Math.ceil((samples.length / moonshineRateHz) * tokensPerSecondMax)
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
  const before = await begunIn(samples.subarray(0, Math.max(0, samples.length - (begunMs * moonshineRateHz) / 1000)))
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

/** The number of units that were begun. */
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

/** How likely the sound ends within a word, from its start to its end in letters: a logarithm. */
function likelyPace(from: number, to: number, steps: number): number {
  const middle = (from + to) / 2
  const spread = ((to - from) / 2) ** 2 + (pace.deviation * middle) ** 2 + variance.letter * middle + variance.start
  const square = spread * pace.mean ** 2
  return -((steps - middle * pace.mean) ** 2) / (2 * square) - Math.log(square) / 2
}

/** The number of steps of 10 ms that are sound. */
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
