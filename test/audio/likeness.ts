/** Finds a clip's position in a recording by correlation, and how similar the recording is there. */
export type Place = { at: number; likeness: number }

/**
 * Finds a clip in a voice with the same rate. Returns its position in samples, searched every `step`, and the likeness
 * there, from 0 to 1. Only every `stride`th sample is compared.
 */
export function placeOf(clip: Int16Array, voice: Int16Array, step: number, stride = 5): Place {
  const last = Math.floor((clip.length - 1) / stride) * stride
  const clipLevel = Math.sqrt(energies(clip, stride)[last] ?? 0)
  const voiceEnergies = energies(voice, stride)
  let best: Place = { at: -1, likeness: 0 }
  for (let from = 0; from + clip.length <= voice.length; from += step) {
    let product = 0
    for (let i = 0; i < clip.length; i += stride) product += clip[i]! * voice[from + i]!
    const level = Math.sqrt(voiceEnergies[from + last]! - (voiceEnergies[from - stride] ?? 0))
    const likeness = product / (clipLevel * level + 1)
    if (likeness > best.likeness) best = { at: from, likeness }
  }
  return best
}

/** Sums squares: `sums[i]` adds up the samples i, i - stride, i - 2 * stride, … */
function energies(samples: Int16Array, stride: number): Float64Array {
  const sums = new Float64Array(samples.length)
  for (let i = 0; i < samples.length; i++) sums[i] = samples[i]! ** 2 + (i < stride ? 0 : sums[i - stride]!)
  return sums
}

/** Returns the clip's similarity at the best position, which is exact to the sample. */
export function likenessOf(clip: Int16Array, voice: Int16Array): number {
  return nearestOf(clip, voice).likeness
}

/**
 * Measures how much of a voice was received, as the median likeness over 200 ms pieces, without quiet ones. Each
 * piece is searched separately, from the position of the previous match: a busy machine delays frames, which leaves a
 * gap or shifts everything after it, so a likeness over the whole voice would measure the machine. If a 60 ms gap
 * follows each 300 ms, the result is 1. For another speaker it is below 0.6, and 500 ms pieces give 0.6 for both.
 */
export function likenessOfPieces(voice: Int16Array, received: Int16Array, rateHz: number): number {
  const length = rateHz / 5
  const pieces: number[] = []
  let searched = 0
  for (let at = 0; at + length <= voice.length; at += length) {
    const piece = voice.subarray(at, at + length)
    if (!piece.some((sample) => Math.abs(sample) > audible)) continue
    const { at: found, likeness } = nearestOf(piece, received.subarray(searched))
    if (likeness > 0.9) searched += found + length / 2
    pieces.push(likeness)
  }
  return pieces.sort((a, b) => a - b)[Math.floor((pieces.length - 1) / 2)] ?? 0
}

const audible = 2000

function nearestOf(clip: Int16Array, voice: Int16Array): Place {
  const { at } = placeOf(clip, voice, 4, 25)
  const from = Math.max(0, at - 8)
  const nearest = placeOf(clip, voice.subarray(from, at + clip.length + 8), 1)
  return { ...nearest, at: from + nearest.at }
}
