/**
 * Records whether this server serves several organizations. Only then do resources reserve a share for other
 * organizations, so a single organization can use everything.
 */
export class Owners {
  #first: string | null = null
  #areSeveral: boolean

  constructor(areSeveral = false) {
    this.#areSeveral = areSeveral
  }

  get areSeveral(): boolean {
    return this.#areSeveral
  }

  /** Called for each authenticated request, with the organization's id. */
  see(owner: string): void {
    this.#first ??= owner
    if (owner !== this.#first) this.seeSeveral()
  }

  /** Called when the database has several organizations. This state lasts until the process ends. */
  seeSeveral(): void {
    this.#areSeveral = true
  }
}

/**
 * How a limit is divided among organizations. `part` is the part of the limit (from 0 to 1) that an organization can
 * always use.
 */
export type Shares = { owners: Owners; part: number }

/** Lets every organization use the whole resource. */
export const undivided = (): Shares => ({ owners: new Owners(), part: 1 })
