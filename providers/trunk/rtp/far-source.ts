/**
 * The source of the other side's packets. It is the first one that sends a valid packet from an address of the call (symmetric RTP,
 * RFC 4961), and another sender cannot take the stream over while it sends. A far end that moves to another port without a word,
 * as after a failover, is learned again when the old source has been silent: soon if it goes on with its SSRC, and later if not.
 */
export type Source = { address: string; port: number }

/** Long enough for the pauses of a far end that leaves silence out, which a stray packet of its neighbour must not use. */
const silentMs = 1_000
const silentOtherMs = 10_000

export class FarSource {
  readonly #signalingAddress: string
  /** Null: no valid packet has come. */
  #source: Source | null = null
  #ssrc: number | null = null

  constructor(signalingAddress: string) {
    this.#signalingAddress = signalingAddress
  }

  get current(): Source | null {
    return this.#source
  }

  /** The other side has named another address. */
  forget(): void {
    this.#source = null
    this.#ssrc = null
  }

  /** `candidate`: the other side may have moved here. `described`: the address of its SDP. */
  placeOf({ address, port }: Source, described: string): 'source' | 'candidate' | 'stranger' {
    const source = this.#source
    if (source !== null && address === source.address && port === source.port) return 'source'
    const isOfCall = address === described || address === this.#signalingAddress || address === source?.address
    if (!isOfCall) return 'stranger'
    return source === null ? 'source' : 'candidate'
  }

  /** Whether a candidate is the other side. `quietMs`: since the last packet of the source. */
  hasMoved(ssrc: number, quietMs: number): boolean {
    return quietMs >= (ssrc === this.#ssrc ? silentMs : silentOtherMs)
  }

  /** False: the synchronization source is another one than before, and counts anew. */
  learn(source: Source, ssrc: number): boolean {
    const isSame = ssrc === this.#ssrc
    this.#source = source
    this.#ssrc = ssrc
    return isSame
  }
}
