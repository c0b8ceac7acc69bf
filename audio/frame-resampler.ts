/**
 * Sample rate conversion for live sessions: mono PCM16 between rates whose ratio is small, such as 48 to 16 kHz. A
 * polyphase FIR filter (windowed sinc, Kaiser window) in plain JavaScript: a frame of 20 ms costs 20 µs, and the
 * converter of `resample.ts`, whose filter is longer, 110 µs and 2 MB a stream. The delay is 1 ms at 16 kHz.
 */
export class FrameResampler {
  readonly #up: number
  readonly #down: number
  readonly #taps: number
  /** The filter of each phase, one behind the other, newest sample last. */
  readonly #phases: Float32Array
  /** The last samples that came in, and behind them those of the call under way. */
  #input: Float32Array
  #output: Int16Array
  /** The place of the next output between input samples, in units of 1/up. */
  #position = 0

  /** Rates in Hz. */
  constructor(fromHz: number, toHz: number) {
    const divisor = greatestDivisor(fromHz, toHz)
    this.#up = toHz / divisor
    this.#down = fromHz / divisor
    this.#taps = Math.ceil(tapsAtLeast * Math.max(1, fromHz / toHz))
    this.#phases = phasesOf(this.#up, this.#taps, Math.min(1, toHz / fromHz))
    this.#input = new Float32Array(this.#taps - 1 + inputUsual)
    this.#output = new Int16Array(Math.ceil((inputUsual * this.#up) / this.#down) + 1)
  }

  /** The delay of the filter, in samples of the input. */
  get delay(): number {
    return this.#up === this.#down ? 0 : (this.#taps - 1 / this.#up) / 2
  }

  /** Takes any number of samples and answers those that are ready, which are lent until the next call. */
  convert(samples: Int16Array): Int16Array {
    if (this.#up === this.#down) return samples
    this.#makeRoom(samples.length)
    const kept = this.#taps - 1
    const input = this.#input
    for (let i = 0; i < samples.length; i++) input[kept + i] = samples[i] as number
    const ready = this.#filter(samples.length)
    input.copyWithin(0, samples.length, samples.length + kept)
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

/** At the lower of the two rates. */
const tapsAtLeast = 32
/** Samples of a frame of 20 ms at 48 kHz. */
const inputUsual = 960
/** The pass band ends at this part of the lower of the two Nyquist frequencies. */
const passBand = 0.92
/** The shape of the Kaiser window. With this value the stop band is 80 dB down. */
const beta = 8

function phasesOf(up: number, taps: number, rateRatio: number): Float32Array {
  const length = taps * up
  const middle = (length - 1) / 2
  // In cycles for each sample of the filter, whose rate is `up` times that of the input.
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

/** The modified Bessel function of order zero, by its power series. */
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
