/**
 * Who is there, where thousands come and go a second: objects that know their place in it.
 *
 * A Set leaves a trail: whenever V8 makes room in one, the table that is given up points to the next. Once one of those tables has
 * become old, none after it dies young any more, with all the requests that it held: every collection then moves what is long over.
 */
export class Roster<Member extends Placed> {
  readonly #members: Member[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: Member): void {
    member.place = this.#members.push(member) - 1
  }

  /** The last takes the free place. A second call does nothing. */
  delete(member: Member): void {
    const { place } = member
    if (place < 0) return
    member.place = -1
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[place] = last
    last.place = place
  }

  /** As they are now: what is done with one may take others off the roster. */
  all(): Member[] {
    return [...this.#members]
  }
}

/** Of one roster at a time. */
export interface Placed {
  /** The roster's own; -1 outside of it. */
  place: number
}
