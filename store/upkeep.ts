/** Work that nobody asks for: heartbeats, renewals, sweeping. A job never overlaps itself, and one that fails comes again at its next time. */
import type { Clock, Log } from '../domain/ports/system.ts'

export type Job = { name: string; everyMs: number; run: () => Promise<unknown> }

/** The answer ends all jobs and resolves when none is under way. */
export function startUpkeep(jobs: readonly Job[], clock: Clock, log: Log): () => Promise<void> {
  const running = new Set<Promise<void>>()
  const cancels = new Map<Job, () => void>()
  let ended = false

  function plan(job: Job): void {
    cancels.set(
      job,
      clock.after(job.everyMs, () => {
        const run = once(job).finally(() => {
          running.delete(run)
          if (!ended) plan(job)
        })
        running.add(run)
      }),
    )
  }

  async function once({ name, run }: Job): Promise<void> {
    try {
      await run()
    } catch (err) {
      if (!ended) log.warn({ err, job: name }, 'store upkeep failed, it is tried again')
    }
  }

  for (const job of jobs) plan(job)
  return async () => {
    ended = true
    for (const cancel of cancels.values()) cancel()
    await Promise.all(running)
  }
}
