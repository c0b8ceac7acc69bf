/**
 * Sample rate conversion for live sessions: mono PCM16 between rates with a small ratio, such as 48 to 16 kHz. It is a
 * polyphase FIR filter (windowed sinc, Kaiser window) in plain JavaScript. A 20 ms frame costs 20 µs; the longer filter
 * in `resample.ts` costs 110 µs and 2 MB a stream. The delay is 1 ms at 16 kHz.
 */
export class FrameResampler {
  readonly #up: number
  readonly #down: number
  readonly #taps: number
  /** One filter per phase, stored one after the other. A filter's last coefficient is for the newest sample. */
  readonly #phases: Float32Array
  /** The last input samples, followed by the current call's input. */
  #input: Float32Array
  #output: Int16Array
  /** The next output sample's position between two input samples, in units of 1/up. */
  #position = 0

  /** Both rates are in Hz. */
  constructor(fromHz: number, toHz: number) {
    const { up, down, taps } = shapeOf(fromHz, toHz)
    this.#up = up
    this.#down = down
    this.#taps = taps
    this.#phases = phasesOf(this.#up, this.#taps, Math.min(1, toHz / fromHz))
    this.#input = new Float32Array(this.#taps - 1 + inputUsual)
    this.#output = new Int16Array(Math.ceil((inputUsual * this.#up) / this.#down) + 1)
  }

  /** The filter's delay, in input samples. */
  get delay(): number {
    return this.#up === this.#down ? 0 : (this.#taps - 1 / this.#up) / 2
  }

  /**
   * Takes any number of samples and returns the output that is ready. The returned array is reused by the next call.
   */
  convert(samples: Int16Array): Int16Array {
    if (this.#up === this.#down) return samples
    this.#makeRoom(samples.length)
    const historyLength = this.#taps - 1
    const input = this.#input
    for (let i = 0; i < samples.length; i++) input[historyLength + i] = samples[i] as number
    const ready = this.#filter(samples.length)
    input.copyWithin(0, samples.length, samples.length + historyLength)
    return this.#output.subarray(0, ready)
  }

  #filter(received: number): number {
    const [input, output, phases, taps, up, down] = [
      this.#input,
      this.#output,
      this.#phases,
      this.#taps,
      this.#up,
      this.#down,
    ]
    const end = received * up
    let position = this.#position
    let ready = 0
    for (; position < end; position += down) {
      const first = Math.floor(position / up)
      const phase = (position - first * up) * taps
      let sum = 0
      for (let tap = 0; tap < taps; tap++) sum += (phases[phase + tap] as number) * (input[first + tap] as number)
      output[ready++] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : Math.round(sum)
    }
    this.#position = position - end
    return ready
  }

  #makeRoom(samples: number): void {
    const needed = this.#taps - 1 + samples
    if (needed <= this.#input.length) return
    const larger = new Float32Array(needed)
    larger.set(this.#input.subarray(0, this.#taps - 1))
    this.#input = larger
    this.#output = new Int16Array(Math.ceil((samples * this.#up) / this.#down) + 1)
  }
}

/**
 * False if the filter between two rates is too long to be computed at once. Between 16,000 and 191,999 Hz it would have
 * 6 million coefficients and take 600 ms and 70 MB.
 */
export function hasShortFilter(fromHz: number, toHz: number): boolean {
  const { up, taps } = shapeOf(fromHz, toHz)
  return up * taps <= factorsMax
}

/**
 * The maximum number of coefficients in a filter. Computing this many takes 13 ms. The filter between 11,025 and
 * 192,000 Hz has 81,920.
 */
const factorsMax = 131_072

function shapeOf(fromHz: number, toHz: number): { up: number; down: number; taps: number } {
  const divisor = greatestDivisor(fromHz, toHz)
  const taps = Math.ceil(tapsAtLeast * Math.max(1, fromHz / toHz))
  return { up: toHz / divisor, down: fromHz / divisor, taps }
}

/** The filter's minimum length, in samples at the lower rate. */
const tapsAtLeast = 32
/** A 20 ms frame at 48 kHz, in samples. */
const inputUsual = 960
/** The pass band's end, as a part of the lower Nyquist frequency. */
const passBand = 0.92
/** The Kaiser window's shape. With this value the stop band is 80 dB down. */
const beta = 8

function phasesOf(up: number, taps: number, rateRatio: number): Float32Array {
  const length = taps * up
  const middle = (length - 1) / 2
  // The cutoff frequency, in cycles per filter sample. The filter's rate is `up` times the input's rate.
  const cutoff = (0.5 * rateRatio * passBand) / up
  const filter = Float64Array.from({ length }, (_, at) => {
    const x = at - middle
    return 2 * cutoff * sinc(2 * cutoff * x) * kaiser(x / (middle + 1))
  })
  const phases = new Float32Array(length)
  for (let phase = 0; phase < up; phase++) {
    let sum = 0
    for (let tap = 0; tap < taps; tap++) sum += filter[phase + tap * up] as number
    // Each phase has a gain of exactly 1, so that a constant input has no ripple.
    for (let tap = 0; tap < taps; tap++)
      phases[phase * taps + (taps - 1 - tap)] = (filter[phase + tap * up] as number) / sum
  }
  return phases
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

function kaiser(x: number): number {
  return bessel(beta * Math.sqrt(Math.max(0, 1 - x * x))) / bessel(beta)
}

/** Computes the modified Bessel function with order zero, by its power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1]
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
