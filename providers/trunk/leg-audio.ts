/** A leg's audio: our RTP port, and both sides' SDP offers and answers. */
import type { RtpLeg } from './rtp-ports.ts'
import { type LocalAudio, type RemoteAudio, readAnswer, readLaterOffer, writeAnswer, writeOffer } from './sdp.ts'

export class LegAudio {
  readonly rtp: RtpLeg
  readonly #local: Omit<LocalAudio, 'version'>
  #version = 0
  /** The other side's audio description. Null if the audio has not begun. */
  #remote: RemoteAudio | null = null

  constructor(rtp: RtpLeg, local: Omit<LocalAudio, 'version'>) {
    this.rtp = rtp
    this.#local = local
  }

  /** Writes our SDP offer. Each SDP gets the next version number (RFC 3264, section 8). */
  offer(): string {
    return writeOffer({ ...this.#local, version: ++this.#version }, this.#remote)
  }

  answer(offer: RemoteAudio): string {
    return writeAnswer({ ...this.#local, version: ++this.#version }, offer)
  }

  /** Reads the SDP answer to our newest offer. Returns null if the answer contains no usable audio. */
  answered(sdp: string): RemoteAudio | null {
    return readAnswer(sdp, this.#remote)
  }

  /** Reads a later SDP offer in the call. Returns null if the offer contains no usable audio. */
  offered(sdp: string): RemoteAudio | null {
    return readLaterOffer(sdp, this.#remote)
  }

  start(remote: RemoteAudio): void {
    this.#remote = remote
    this.rtp.start(remote)
  }
}
