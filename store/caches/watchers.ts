/** Calls the functions registered for a name when any process sends a notification with this name. */
import type { Sql } from '../postgres/connect.ts'

export class Watchers {
  readonly #byName = new Map<string, Set<() => void>>()

  /** Calls `run` after each change, and when a change may have been missed. The returned function ends this. */
  watch(name: string, run: () => void): () => void {
    const ofName = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, ofName.add(run))
    return () => {
      ofName.delete(run)
      if (ofName.size === 0 && this.#byName.get(name) === ofName) this.#byName.delete(name)
    }
  }

  /** Resolves as soon as notifications from the channel arrive. */
  async listen(sql: Sql, channel: string): Promise<void> {
    const changed = (name: string) => {
      for (const run of this.#byName.get(name) ?? []) run()
    }
    // The driver listens again after each lost connection. Changes may have been missed before that, so all functions
    // run.
    await sql.listen(channel, changed, () => {
      for (const name of this.#byName.keys()) changed(name)
    })
  }
}
