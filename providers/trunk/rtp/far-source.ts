/**
 * Learns the source address and port for the other side's packets (symmetric RTP, RFC 4961). The first sender of a
 * valid packet from one of the call's addresses becomes the source. No other sender can take over the stream while the
 * source sends, with two exceptions. First, a far end may move to another port without notice, for example after a
 * failover, or a neighbour at a shared address may have sent the first packet. The new source is accepted when the old
 * source has been silent: for 1 s at the same address or with the same SSRC, otherwise for 10 s. Second, a far end may
 * move by a new SDP. Then packets from the SDP's address and port are accepted at once. Until our SDP answer arrives,
 * the far end still sends from its old port, and these last packets must not make the old port the source again.
 */
export type Source = { address: string; port: number }

/**
 * The class for a packet's sender, by its address and port. `current`: from the source. `acceptable`: this sender may
 * become the source at once. `candidate`: this sender may become the source only after the source was silent for a
 * time. `stranger`: the address does not belong to the call, so the packet is ignored.
 */
export type Place = 'current' | 'acceptable' | 'candidate' | 'stranger'

/**
 * How long the source must be silent before a candidate replaces it. Far ends with silence suppression make shorter
 * pauses, and a stray packet in such a pause must not change the source.
 */
const silentMs = 1_000
const silentOtherMs = 10_000

export class FarSource {
  readonly #signalingAddress: string
  /** The current source. Null if no valid packet has arrived since the other side's SDP changed its address. */
  #source: Source | null = null
  #ssrc: number | null = null
  /** The address and port in the newest SDP. */
  #described: Source | null = null
  /**
   * True if no packet has arrived from the newest SDP's address and port yet. After the first packet the far end may
   * move again; late packets from the SDP's address then do not change the source back.
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

  /** Records an SDP's address and port. Returns false if they are the same as in the last SDP. */
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
   * if the SDP is newer.
   */
  hasMoved({ address }: Source, ssrc: number, quietMs: number): boolean {
    const isSameAddress = address === (this.#source ?? this.#left)?.address
    return quietMs >= (isSameAddress || ssrc === this.#ssrc ? silentMs : silentOtherMs)
  }

  /** Makes the sender the source. Returns false if the SSRC has changed, because the timestamps then restart. */
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
