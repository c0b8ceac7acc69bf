/** Runs replays side by side. One that fails does not end the others. */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Choice, Replayed } from '../../data/replay.ts'

export type Replay = { choice: Choice } & (
  | { state: 'running' }
  | { state: 'done'; replayed: Replayed }
  | { state: 'failed'; error: unknown }
)

export type Run = (choice: Choice) => Promise<Replayed>

/**
 * A replay costs money, so replays begin only when `start` is called. `prepare` is called once for all models of a
 * start. When the page closes, all replays are cancelled.
 */
export function useReplays(prepare: (signal: AbortSignal) => Run): {
  replays: readonly Replay[]
  start: (choices: readonly Choice[]) => void
} {
  const [replays, setReplays] = useState<readonly Replay[]>([])
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])
  const start = useCallback(
    (choices: readonly Choice[]) => {
      controller.current?.abort()
      const { signal } = (controller.current = new AbortController())
      const settle = (replay: Replay) => {
        if (signal.aborted) return
        setReplays((all) => all.map((each) => (each.choice === replay.choice ? replay : each)))
      }
      setReplays(choices.map((choice) => ({ choice, state: 'running' })))
      const run = prepare(signal)
      for (const choice of choices)
        void run(choice).then(
          (replayed) => settle({ choice, state: 'done', replayed }),
          (error: unknown) => settle({ choice, state: 'failed', error }),
        )
    },
    [prepare],
  )
  return { replays, start }
}
