/** Functions that are called when a thing changes. Any process may change it: a notification has the name of the thing. */
import type { Sql } from '../postgres/connect.ts'

export class Watchers {
  readonly #byName = new Map<string, Set<() => void>>()

  /** `run` is called after each change, also when one may have been missed, until the returned function is called. */
  watch(name: string, run: () => void): () => void {
    const ofName = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, ofName.add(run))
    return () => {
      ofName.delete(run)
      if (ofName.size === 0 && this.#byName.get(name) === ofName) this.#byName.delete(name)
    }
  }

  /** Resolves when notifications of the channel are received. */
  async listen(sql: Sql, channel: string): Promise<void> {
    const changed = (name: string) => {
      for (const run of this.#byName.get(name) ?? []) run()
    }
    // The driver listens again after each lost connection. Changes were missed in between.
    await sql.listen(channel, changed, () => {
      for (const name of this.#byName.keys()) changed(name)
    })
  }
}
