/** Raises the voice's level for the telephone, and keeps its peaks below the limit of 16-bit samples. */

/** About 6 dB: the voice's speech is at -24 dB of full scale, and recorded prompts are at about -18 dB. */
const gain = 2
const peakMax = 0.95
/** The gain is chosen once for each block, and moves in a straight line from one block to the next. */
const blockSamples = 120

/** Returns the samples as s16le. The gain falls before a peak and rises after it, so a peak is not cut. */
export function raised(samples: Float32Array): Int16Array {
  const gains = blockGains(samples)
  const result = new Int16Array(samples.length)
  for (let at = 0; at < samples.length; at++) {
    const block = Math.floor(at / blockSamples)
    const from = Math.min(gains[Math.max(0, block - 1)]!, gains[block]!)
    const to = Math.min(gains[block]!, gains[block + 1] ?? gain)
    const level = from + ((to - from) * (at % blockSamples)) / blockSamples
    result[at] = Math.round(samples[at]! * level * 32_767)
  }
  return result
}

function blockGains(samples: Float32Array): Float32Array {
  const gains = new Float32Array(Math.ceil(samples.length / blockSamples))
  for (let block = 0; block < gains.length; block++) {
    let peak = 0
    for (const sample of samples.subarray(block * blockSamples, (block + 1) * blockSamples))
      peak = Math.max(peak, Math.abs(sample))
    gains[block] = Math.min(gain, peakMax / peak)
  }
  return gains
}
