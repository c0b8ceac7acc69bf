/**
 * Changes the sample rate of streaming mono audio: a windowed sinc as a polyphase filter, for any two rates. With L/M =
 * to/from in lowest terms, output n lies at input time n·M/L. The filter has one coefficient row for each of the L
 * positions between two input samples. Aliases and images are 80 dB down, and the passband ends at 0.41 of the lower
 * rate. The output is aligned with the input: N samples become exactly ceil(N·L/M) after `flush`.
 */
export class Resampler {
  #rows
  #taps
  #half
  /** The step M/L between two outputs: whole input samples, and the remainder, counted in 1/L. */
  #l
  #wholes
  #rest
  /** The input samples that the filter still needs. */
  #input
  #filled = 0
  /** The next output's position: its first input sample, and the position between two samples, counted in 1/L. */
  #first = 0
  #phase = 0
  #output = new Float32Array(1024)

  #isSameRate

  constructor(fromHz, toHz) {
    this.#isSameRate = fromHz === toHz
    const divisor = gcd(fromHz, toHz)
    this.#l = toHz / divisor
    const m = fromHz / divisor
    this.#wholes = Math.floor(m / this.#l)
    this.#rest = m % this.#l
    const bandwidth = Math.min(1, this.#l / m)
    this.#half = Math.ceil(zeroCrossings / bandwidth)
    this.#taps = 2 * this.#half
    this.#rows = coefficientsOf(this.#l, this.#half, bandwidth)
    this.#input = new Float32Array(this.#taps + 4096)
    this.reset()
  }

  /** Drops the audio held back. The next input starts a new stream. */
  reset() {
    // Silence comes before the first sample.
    this.#filled = this.#half - 1
    this.#input.fill(0, 0, this.#filled)
    this.#first = 0
    this.#phase = 0
  }

  /** Returns the output for the input so far. The next call overwrites the returned array. */
  push(samples) {
    if (this.#isSameRate) return samples
    this.#keep(samples)
    const most = Math.ceil((samples.length + 1) / (this.#wholes + this.#rest / this.#l)) + 1
    if (this.#output.length < most) this.#output = new Float32Array(most)
    let count = 0
    while (this.#first + this.#taps <= this.#filled) {
      this.#output[count++] = this.#next()
      this.#first += this.#wholes
      this.#phase += this.#rest
      if (this.#phase < this.#l) continue
      this.#phase -= this.#l
      this.#first += 1
    }
    this.#input.copyWithin(0, this.#first, this.#filled)
    this.#filled -= this.#first
    this.#first = 0
    return this.#output.subarray(0, count)
  }

  /**
   * Returns the remaining output, as if silence followed. The next input starts a new stream. The next call overwrites
   * the returned array.
   */
  flush() {
    const rest = this.push(this.#isSameRate ? nothing : new Float32Array(this.#half))
    this.reset()
    return rest
  }

  #keep(samples) {
    const needed = this.#filled + samples.length
    if (needed > this.#input.length) {
      const larger = new Float32Array(2 * needed)
      larger.set(this.#input.subarray(0, this.#filled))
      this.#input = larger
    }
    this.#input.set(samples, this.#filled)
    this.#filled = needed
  }

  #next() {
    const from = this.#first
    const row = this.#phase * this.#taps
    let sum = 0
    for (let tap = 0; tap < this.#taps; tap++) sum += this.#input[from + tap] * this.#rows[row + tap]
    return sum
  }
}

const nothing = new Float32Array(0)
/**
 * Zero crossings on each side of the sinc's peak, at the lower rate. More crossings make the filter steeper and its
 * delay longer.
 */
const zeroCrossings = 32
/** The transition band's middle. The band ends at half the lower rate. */
const cutoff = 0.911
const kaiserBeta = 8.5

function coefficientsOf(positions, half, bandwidth) {
  const taps = 2 * half
  const rows = new Float32Array(positions * taps)
  for (let position = 0; position < positions; position++) {
    const row = rows.subarray(position * taps, (position + 1) * taps)
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - (half - 1) - position / positions
      row[tap] = sinc(distance * bandwidth * cutoff) * kaiser(distance / half)
      sum += row[tap]
    }
    // Each row's sum is 1, so a constant input passes unchanged.
    for (let tap = 0; tap < taps; tap++) row[tap] /= sum
  }
  return rows
}

const sinc = (x) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

/** Returns the Kaiser window at `x`, from -1 to 1. */
function kaiser(x) {
  return Math.abs(x) > 1 ? 0 : bessel(kaiserBeta * Math.sqrt(1 - x * x)) / bessel(kaiserBeta)
}

/** Computes the modified Bessel function (first kind, order 0), by its series. */
function bessel(x) {
  let sum = 1
  let term = 1
  for (let k = 1; k < 40; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

const gcd = (a, b) => (b === 0 ? a : gcd(b, a % b))
