/**
 * A list for sets with thousands of changes a second. Each member stores its index in the list.
 *
 * A Set slows down garbage collection. When V8 grows or shrinks a Set, the old table points to the new table. Once an
 * old table is in the old generation, all later tables stay reachable from it, with all their requests, and every young
 * collection copies them.
 */
export class Roster<Member extends Placed> {
  readonly #members: Member[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: Member): void {
    member.place = this.#members.push(member) - 1
  }

  /** Removes a member. The last member moves to the free index. A second call does nothing. */
  delete(member: Member): void {
    const { place } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  /** Returns a copy, because the calling code may remove members while it iterates. */
  all(): Member[] {
    return [...this.#members]
  }
}

/** A member can be in at most one roster at a time. */
export interface Placed {
  /** The member's index in its roster, -1 outside a roster. Only the roster writes it. */
  place: number
}
