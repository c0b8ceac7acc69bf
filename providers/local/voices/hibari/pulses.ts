/**
 * The voice's source: pulses at the pitch. Each pulse holds all harmonics up to 11 kHz with the same strength, so the
 * sum has a closed form (Dirichlet kernel): the sum over cos(k a) for k = 1..h is sin((h + 1/2) a) / (2 sin(a / 2)) -
 * 1/2.
 */

/** A pitch below this means an unvoiced frame. */
const pitchHzMin = 40
const harmonicHzMax = 11_000
/** If the angle is this close to a multiple of 2 pi, the quotient is replaced by its limit. */
const sineMin = 2e-3

/** Returns the pulses for a pitch in Hz per frame. The pitch between the middles of two frames is interpolated. */
export function pulsesOf(f0: Float32Array, hop: number, sampleRateHz: number): Float32Array {
  const pulses = new Float32Array(f0.length * hop)
  let phase = 0
  for (let frame = 0; frame < f0.length; frame++) {
    const own = f0[frame]!
    const before = f0[Math.max(0, frame - 1)]!
    const after = f0[Math.min(f0.length - 1, frame + 1)]!
    for (let step = 0; step < hop; step++) {
      const place = (step + 0.5) / hop - 0.5
      const pitchHz = own + (place < 0 ? own - before : after - own) * place
      phase = (phase + Math.max(pitchHzMin, pitchHz) / sampleRateHz) % 1
      if (pitchHz > pitchHzMin) pulses[frame * hop + step] = pulseAt(phase, pitchHz)
    }
  }
  return pulses
}

function pulseAt(phase: number, pitchHz: number): number {
  const harmonics = Math.floor(harmonicHzMax / pitchHz) + 0.5
  const angle = 2 * Math.PI * phase
  const sine = 2 * Math.sin(angle / 2)
  return (Math.abs(sine) <= sineMin ? harmonics : Math.sin(harmonics * angle) / sine) - 0.5
}
