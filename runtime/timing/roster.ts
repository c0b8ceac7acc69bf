/**
 * A list whose members know their place in it, for sets with thousands of changes a second.
 *
 * A Set is slower to collect. When V8 grows or shrinks one, the old table points to the new one. Once one of those
 * tables is in the old generation, all later tables stay reachable from it, with all requests that they held, and every
 * young collection copies them.
 */
export class Roster<Member extends Placed> {
  readonly #members: Member[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: Member): void {
    member.place = this.#members.push(member) - 1
  }

  /** The last member moves to the free place. A second call does nothing. */
  delete(member: Member): void {
    const { place } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  /** A copy, because the calling code may remove members while it iterates. */
  all(): Member[] {
    return [...this.#members]
  }
}

/** A member of at most one roster at a time. */
export interface Placed {
  /** Written by the roster alone; -1 outside of it. */
  place: number
}
