export class Playout {
  constructor(options: { fromHz: number; toHz: number; onPlayed: (mark: string) => void; latencyMs?: number })
  readonly holdMs: number
  readonly bufferedMs: number
  push(samples: Int16Array): void
  mark(name: string): void
  clear(): { mark: string | null; playedMs: number }
  pull(block: Float32Array): void
}
