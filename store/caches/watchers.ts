/**
 * Calls the functions registered for a name when any process sends a notification with this name. The payload is the
 * name, or the name and a detail in a second line.
 */
import type { Sql } from '../postgres/connect.ts'

type Watch = (detail: string | null) => void

export class Watchers {
  readonly #byName = new Map<string, Set<Watch>>()

  /**
   * Calls `run` after each change with the notification's detail, and with null when a change may have been missed. The
   * returned function ends this.
   */
  watch(name: string, run: Watch): () => void {
    const ofName = this.#byName.get(name) ?? new Set()
    this.#byName.set(name, ofName.add(run))
    return () => {
      ofName.delete(run)
      if (ofName.size === 0 && this.#byName.get(name) === ofName) this.#byName.delete(name)
    }
  }

  /** Resolves as soon as notifications from the channel arrive. */
  async listen(sql: Sql, channel: string): Promise<void> {
    const changed = (name: string, detail: string | null) => {
      for (const run of this.#byName.get(name) ?? []) run(detail)
    }
    const received = (payload: string) => {
      const [name = '', detail = null] = payload.split('\n')
      changed(name, detail)
    }
    // The driver listens again after each lost connection. Changes may have been missed before that, so all functions
    // run.
    await sql.listen(channel, received, () => {
      for (const name of this.#byName.keys()) changed(name, null)
    })
  }
}
