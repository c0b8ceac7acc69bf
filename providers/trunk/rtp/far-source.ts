/**
 * Learns the source address and port for the other side's packets (symmetric RTP, RFC 4961). The first sender of a
 * valid packet from one of the call's addresses becomes the source. No other sender can take over the stream while the
 * source sends, with two exceptions. First, a far end may move to another port without notice, for example after a
 * failover, or a neighbour at a shared address may have sent the first packet. The new source is learned after the old
 * source's silence: 1 s at the same address or with the same SSRC, otherwise 10 s. Second, a far end may move by a new SDP. Then packets from the SDP's address and port are accepted at once.
 * Until our answer arrives, the far end still sends from its old port, and these last packets must not make the old
 * port the source again.
 */
export type Source = { address: string; port: number }

/**
 * How a packet is treated, by its sender's address and port. `current`: from the source. `acceptable`: this sender may
 * become the source at once. `candidate`: this sender may become the source only after the source was silent for a
 * time. `stranger`: not from an address in the call, so it is ignored.
 */
export type Place = 'current' | 'acceptable' | 'candidate' | 'stranger'

/**
 * How long the source must have been silent. Far ends that send nothing during silence make shorter pauses, and a stray
 * packet must not take over in such a pause.
 */
const silentMs = 1_000
const silentOtherMs = 10_000

export class FarSource {
  readonly #signalingAddress: string
  /** Null if no valid packet has come since the other side named another address. */
  #source: Source | null = null
  #ssrc: number | null = null
  /** The address and port in the newest SDP. */
  #described: Source | null = null
  /**
   * True if no packet has come from the newest SDP's address and port yet. After the first packet the other side may
   * move again, and late packets from there are ignored.
   */
  #isAwaited = false
  /** The source before the newest SDP. */
  #left: Source | null = null

  constructor(signalingAddress: string) {
    this.#signalingAddress = signalingAddress
  }

  get current(): Source | null {
    return this.#source
  }

  /** Notes an SDP's address and port. Returns false if they are the same as in the last SDP. */
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

  /**
   * True if a candidate may become the source. `quietMs` is the time since the source's last packet or since the SDP,
   * the shorter of both.
   */
  hasMoved({ address }: Source, ssrc: number, quietMs: number): boolean {
    const isSameAddress = address === (this.#source ?? this.#left)?.address
    return quietMs >= (isSameAddress || ssrc === this.#ssrc ? silentMs : silentOtherMs)
  }

  /** Makes the sender the source. Returns false if the SSRC has changed, because timestamps then start anew. */
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
