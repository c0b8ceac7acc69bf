/**
 * Detects whether the database has several organizations: at the start, and when an organization is created or enabled.
 * Without this check, the first organization could use all capacity until the second organization's first request in
 * this process.
 */
import { Owners } from '../runtime/shares/owners.ts'
import { type LoopLog, Loops } from '../runtime/timing/loops.ts'
import type { App } from './app.ts'

type Needs = Pick<App, 'clock' | 'closing'> & {
  log: LoopLog
  store: { organizations: Pick<App['store']['organizations'], 'areSeveral' | 'watch'> }
}

/** The interval for repeating the check until several organizations exist. It is repeated because a check can fail. */
const lookEveryMs = 60_000
const closeMs = 5_000

/**
 * Makes the record of whether several organizations exist, and keeps it up to date. Rejects if the database cannot be
 * read at the start.
 */
export async function openOwners({ store, clock, log, closing }: Needs): Promise<Owners> {
  const { organizations } = store
  const owners = new Owners()
  const look = async () => {
    if (!owners.areSeveral && (await organizations.areSeveral())) owners.seeSeveral()
  }
  // The loop repeats a failed check, and logs a second failure.
  organizations.watch(() => void look().catch(() => {}))
  await look()
  const loops = new Loops(clock, log)
  closing(() => loops.stop(closeMs))
  loops.start({ name: 'whether there are several organizations', everyMs: lookEveryMs, run: look })
  return owners
}
