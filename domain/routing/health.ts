import type { Clock } from '../ports.ts'
import type { Row } from './catalog.ts'
import { admits, type Circuit, type CircuitEvent, type CircuitLimits, closed, move } from './circuit.ts'
import { type LiveFigures, LiveSeries, type Sample } from './live-figures.ts'
import type { Path } from './model.ts'
import type { ErrorClass, ProviderError } from './provider-error.ts'

export type HealthLimits = { model: CircuitLimits; credential: CircuitLimits }
export type Blocked = { reason: 'circuit_open' | 'credential_cooling'; retryAfterMs: number }

/** Leave to make one attempt. It ends once: later calls are ignored. */
export interface Permit {
  /** The first media byte came. */
  alive(): void
  succeeded(sample: Omit<Sample, 'failed'>): void
  failed(error: ProviderError): void
}

/** What a failure says of the model, of the provider's credential, or of neither. */
const blames: Record<ErrorClass, 'model' | 'credential' | 'nobody'> = {
  auth: 'credential',
  quota: 'credential',
  bad_request: 'nobody',
  unsupported: 'nobody',
  cancelled: 'nobody',
  rate_limited: 'model',
  overloaded: 'model',
  timeout: 'model',
  protocol: 'model',
  empty: 'model',
  unreachable: 'model',
  server: 'model',
}

/**
 * Circuits by model and by credential, and live figures by model and path. `version` moves whenever a question asked here would be
 * answered differently, time included, so that a ranking may be kept until then.
 */
export class Health {
  readonly #clock: Clock
  readonly #limits: HealthLimits
  readonly #circuits = new Map<string, Circuit>()
  readonly #series = new Map<string, LiveSeries>()
  #version = 0
  #elapsesAtMs = Number.POSITIVE_INFINITY

  constructor(clock: Clock, limits: HealthLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  version(): number {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs >= this.#elapsesAtMs) this.#elapse(nowMs)
    return this.#version
  }

  /** Null when an attempt may be made now. */
  blocked(row: Row): Blocked | null {
    this.version()
    return this.#blockedBy(credentialOf(row), 'credential_cooling') ?? this.#blockedBy(row.key, 'circuit_open')
  }

  figures(row: Row, path: Path): LiveFigures | null {
    return this.#series.get(seriesOf(row, path))?.shown() ?? null
  }

  /** Null when the circuit does not admit it: open, or half-open with its one probe under way. */
  begin(row: Row, path: Path): Permit | null {
    if (this.blocked(row)) return null
    const probes = [row.key, credentialOf(row)].filter((key) => this.#circuit(key).state === 'half_open')
    for (const key of probes) this.#move(key, 'begin')
    return this.#permit(row, path, probes)
  }

  #permit(row: Row, path: Path, probes: string[]): Permit {
    const keys = [row.key, credentialOf(row)]
    let ended = false
    const once = (run: () => void) => {
      if (ended) return
      ended = true
      run()
    }
    return {
      alive: () => this.#moveAll(keys, 'alive'),
      succeeded: (sample) =>
        once(() => {
          this.#moveAll(keys, 'success')
          this.#sample(row, path, { ...sample, failed: false })
        }),
      failed: (error) =>
        once(() => {
          const blame = blames[error.errorClass]
          const guilty = blame === 'model' ? row.key : blame === 'credential' ? credentialOf(row) : null
          if (guilty !== null) this.#blame(guilty, probes, (error.retryAfterS ?? 0) * 1000)
          for (const key of probes) if (key !== guilty) this.#move(key, 'abandoned')
          if (blame !== 'nobody') this.#sample(row, path, { failed: true })
        }),
    }
  }

  /** Only the probe itself decides about a half-open circuit; an older attempt that ends meanwhile does not. */
  #blame(key: string, probes: string[], leastMs: number): void {
    if (probes.includes(key) || this.#circuit(key).state === 'closed') this.#move(key, 'failure', leastMs)
  }

  #moveAll(keys: string[], event: CircuitEvent): void {
    for (const key of keys) this.#move(key, event)
  }

  #move(key: string, event: CircuitEvent, leastMs = 0): void {
    const before = this.#circuit(key)
    const nowMs = this.#clock.monotonicMs()
    const after = move(before, event, this.#limitsOf(key), nowMs, leastMs)
    if (after === before) return
    if (after === closed) this.#circuits.delete(key)
    else this.#circuits.set(key, after)
    if (after.state === 'open') this.#elapsesAtMs = Math.min(this.#elapsesAtMs, after.untilMs)
    if (after.state !== before.state) this.#version += 1
  }

  #sample(row: Row, path: Path, sample: Sample): void {
    const key = seriesOf(row, path)
    const series = this.#series.get(key) ?? new LiveSeries()
    this.#series.set(key, series)
    if (series.add(sample, this.#clock.monotonicMs(), this.#clock.nowMs())) this.#version += 1
    this.#elapsesAtMs = Math.min(this.#elapsesAtMs, series.staleAtMs())
  }

  /** Runs when the earliest moment is reached at which time alone changes an answer. */
  #elapse(nowMs: number): void {
    this.#elapsesAtMs = Number.POSITIVE_INFINITY
    for (const key of this.#circuits.keys()) this.#move(key, 'elapsed')
    for (const circuit of this.#circuits.values())
      if (circuit.state === 'open') this.#elapsesAtMs = Math.min(this.#elapsesAtMs, circuit.untilMs)
    for (const [key, series] of this.#series) {
      if (series.staleAtMs() > nowMs) {
        this.#elapsesAtMs = Math.min(this.#elapsesAtMs, series.staleAtMs())
      } else {
        this.#series.delete(key)
        if (series.shown()) this.#version += 1
      }
    }
  }

  #blockedBy(key: string, reason: Blocked['reason']): Blocked | null {
    const circuit = this.#circuit(key)
    if (admits(circuit)) return null
    const retryAfterMs = circuit.state === 'open' ? circuit.untilMs - this.#clock.monotonicMs() : circuit.openMs
    return { reason, retryAfterMs: Math.max(0, retryAfterMs) }
  }

  #circuit(key: string): Circuit {
    return this.#circuits.get(key) ?? closed
  }

  #limitsOf(key: string): CircuitLimits {
    return key.startsWith(credentialPrefix) ? this.#limits.credential : this.#limits.model
  }
}

const credentialPrefix = 'credential:'

function credentialOf(row: Row): string {
  return credentialPrefix + row.provider.id
}

function seriesOf(row: Row, path: Path): string {
  return `${path}:${row.key}`
}
