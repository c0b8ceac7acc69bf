/**
 * The source of the other side's packets. It is the first one that sends a valid packet from an address of the call (symmetric RTP,
 * RFC 4961), and another sender cannot take the stream over while it sends. There are two exceptions. A far end that moves to another
 * port without a word, as after a failover, is learned again when the old source has been silent: soon if it goes on with its SSRC, and
 * later if not. A far end that moves by a new SDP is taken at the address and port of the SDP at once. It sends from the old port until it has
 * our answer, so that the old port must not be learned again by these last packets.
 */
export type Source = { address: string; port: number }

/**
 * How a packet is judged by the address and port that sent the packet. `acceptable`: this sender may become the source
 * at once. `candidate`: this sender may become the source only after the other side was silent for a time.
 */
export type Place = 'current' | 'acceptable' | 'candidate' | 'stranger'

/** Long enough for the pauses of a far end that leaves silence out, which a stray packet of its neighbour must not use. */
const silentMs = 1_000
const silentOtherMs = 10_000

export class FarSource {
  readonly #signalingAddress: string
  /** Null: no valid packet has come since the other side has named another address. */
  #source: Source | null = null
  #ssrc: number | null = null
  /** The address and port of the SDP. */
  #described: Source | null = null
  /** Nothing has come from the described source. Once it has, the other side may move away from it, and the last packets from there count no more. */
  #isAwaited = false
  /** The source before the other side has named another address. */
  #left: Source | null = null

  constructor(signalingAddress: string) {
    this.#signalingAddress = signalingAddress
  }

  get current(): Source | null {
    return this.#source
  }

  /** The address and port that an SDP names. False: they are those of the SDP before. */
  describe(described: Source): boolean {
    if (isSame(described, this.#described)) return false
    if (this.#source !== null) this.#left = this.#source
    this.#described = described
    this.#source = null
    this.#isAwaited = true
    return true
  }

  placeOf(sender: Source): Place {
    if (isSame(sender, this.#source)) return 'current'
    const { address } = sender
    const isDescribed = address === this.#described?.address
    if (this.#isAwaited && isDescribed && sender.port === this.#described?.port) return 'acceptable'
    if (!isDescribed && address !== this.#signalingAddress && address !== this.#source?.address) return 'stranger'
    return this.#source === null && !isSame(sender, this.#left) ? 'acceptable' : 'candidate'
  }

  /** Whether a candidate is the other side. `quietMs`: since the last packet of the source, or since the SDP. */
  hasMoved(ssrc: number, quietMs: number): boolean {
    return quietMs >= (ssrc === this.#ssrc ? silentMs : silentOtherMs)
  }

  /** False: the synchronization source is another one than before, and counts anew. */
  learn(source: Source, ssrc: number): boolean {
    const isSameSsrc = ssrc === this.#ssrc
    this.#source = source
    this.#ssrc = ssrc
    if (isSame(source, this.#described)) this.#isAwaited = false
    return isSameSsrc
  }
}

const isSame = (one: Source, other: Source | null) =>
  other !== null && one.address === other.address && one.port === other.port
