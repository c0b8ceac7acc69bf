/**
 * Divides one resource, such as connections or bytes, among its owners: the organizations of a server.
 *
 *   0 ─────────────────── share ───────────────── max − share ──────────── max
 *   │ granted to each owner │ lent to a busy owner     │ reserved for others │
 *
 * An owner below its share gets a place whenever a place is free. Above its share, an owner borrows: while the server
 * has several organizations, a loan must leave one share free. If nothing is free, an owner below its share gets units
 * that other owners have borrowed, as far as the loans can be taken back.
 *
 * Simplification: the shares do not shrink when there are more owners than shares. Owners below their share then take
 * turns as places become free.
 */
import type { Owners } from './owners.ts'

export type CapacityLimits = {
  /** Units in the whole resource. */
  max: number
  /** An owner's share as a part of `max`. A share has at least one unit. */
  part: number
  /** If it returns false, the owner may have no more than its share. If absent, every owner may borrow. */
  lends?: (owner: string) => boolean
}

/** Takes a loan back. The units count as free at once, so their user must stop soon. */
export type GiveBack = () => void

/** `loans` has the places that can be taken back. It is null until the owner has such a place. */
type Owner = { units: number; loans: Set<Place> | null }

/** One owner's use of the resource: a number of units for one purpose, such as a request. */
export class Place {
  readonly owner: string
  units = 0
  /** If it is null, a loan to this place cannot be taken back. */
  giveBack: GiveBack | null
  readonly #capacity: Capacity
  #isEnded = false

  constructor(capacity: Capacity, owner: string, giveBack: GiveBack | null) {
    this.#capacity = capacity
    this.owner = owner
    this.giveBack = giveBack
  }

  /** Adds units. Returns false if the owner may not have the units now, or if the place has ended. */
  add(units: number): boolean {
    return !this.#isEnded && this.#capacity.grow(this, units)
  }

  /**
   * Lets the units be taken back while the owner has more than its share, for example because they are not in use now.
   * With null they stay with the owner.
   */
  offer(giveBack: GiveBack | null): void {
    if (this.#isEnded || this.giveBack === giveBack) return
    this.giveBack = giveBack
    this.#capacity.offer(this)
  }

  /** From now on the place's units (a loan) cannot be taken back. Returns false if the place has ended before. */
  keep(): boolean {
    this.offer(null)
    return !this.#isEnded
  }

  /** Releases all units. A second call does nothing. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#capacity.release(this)
  }
}

/**
 * Owners without units stay in the map up to this size. An entry that comes and goes with each request would make V8
 * rebuild the map all the time.
 */
const keptMax = 256

export class Capacity {
  readonly #max: number
  readonly #share: number
  readonly #lendsTo: (owner: string) => boolean
  readonly #owners: Owners
  readonly #usedBy = new Map<string, Owner>()
  #used = 0

  constructor({ max, part, lends = () => true }: CapacityLimits, owners: Owners) {
    this.#max = max
    this.#share = Math.max(1, Math.floor(max * part))
    this.#owners = owners
    this.#lendsTo = lends
  }

  get used(): number {
    return this.#used
  }

  /** Returns null if the owner may not have the units now. With `giveBack`, a loan can be taken back. */
  take(owner: string, units = 1, giveBack: GiveBack | null = null): Place | null {
    const place = new Place(this, owner, giveBack)
    return this.grow(place, units) ? place : null
  }

  /**
   * False if the owner cannot have this many units now. Does not try to take back loans, so the result can be true
   * although a later `take` fails.
   */
  admits(owner: string, units: number): boolean {
    const own = this.#usedBy.get(owner)?.units ?? 0
    return own + units <= this.#share || this.#lends(owner, units)
  }

  /** For Place only: no other code calls `grow`, `offer` and `release`. */
  grow(place: Place, units: number): boolean {
    const isLoan = (this.#usedBy.get(place.owner)?.units ?? 0) + units > this.#share
    if (isLoan ? !this.#lends(place.owner, units) : !this.#frees(units, place.owner)) return false
    // The owner is looked up only now, because giving back a loan runs a callback, and the callback may take a place
    // for this owner.
    const owner = this.#usedBy.get(place.owner) ?? this.#add(place.owner)
    owner.units += units
    place.units += units
    this.#used += units
    if (isLoan && place.giveBack) addLoan(owner, place)
    return true
  }

  offer(place: Place): void {
    const owner = this.#usedBy.get(place.owner)
    if (!owner) return
    if (place.giveBack) addLoan(owner, place)
    else owner.loans?.delete(place)
  }

  release(place: Place): void {
    const owner = this.#usedBy.get(place.owner)
    if (!owner) return
    this.#used -= place.units
    owner.units -= place.units
    owner.loans?.delete(place)
    place.units = 0
    if (owner.units === 0 && this.#usedBy.size > keptMax) this.#usedBy.delete(place.owner)
  }

  /** True if a loan leaves a share free. With a single organization on the server, nothing is reserved. */
  #lends(owner: string, units: number): boolean {
    const reserved = this.#owners.areSeveral ? this.#share : 0
    return this.#lendsTo(owner) && this.#used + units + reserved <= this.#max
  }

  /** Makes the units free for an owner below its share. Returns false if too few loans can be given back. */
  #frees(units: number, owner: string): boolean {
    while (this.#used + units > this.#max) {
      const loan = this.#oldestLoan(owner)
      if (!loan) return false
      loan.end()
      loan.giveBack?.()
    }
    return true
  }

  /**
   * Returns the oldest loan of the owner that uses most, apart from `except`. The oldest loan is the likeliest to be
   * stuck.
   */
  #oldestLoan(except: string): Place | null {
    let largest: Owner | null = null
    for (const [id, owner] of this.#usedBy)
      if (id !== except && owner.loans?.size && owner.units > (largest?.units ?? this.#share)) largest = owner
    return largest?.loans?.values().next().value ?? null
  }

  #add(id: string): Owner {
    const owner: Owner = { units: 0, loans: null }
    this.#usedBy.set(id, owner)
    return owner
  }
}

function addLoan(owner: Owner, place: Place): void {
  owner.loans ??= new Set()
  owner.loans.add(place)
}
