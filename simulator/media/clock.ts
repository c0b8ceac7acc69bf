export type SimulatorClock = {
  /** Milliseconds since the epoch. */
  nowMs(): number
  monotonicMs(): number
  after(delayMs: number, run: () => void): () => void
}
