/** A leg's audio: our RTP port, and both sides' offers and answers. */
import type { RtpLeg } from './rtp-ports.ts'
import { type LocalAudio, type RemoteAudio, readAnswer, readLaterOffer, writeAnswer, writeOffer } from './sdp.ts'

export class LegAudio {
  readonly rtp: RtpLeg
  readonly #local: Omit<LocalAudio, 'version'>
  #version = 0
  /** Null: the audio has not begun. */
  #remote: RemoteAudio | null = null

  constructor(rtp: RtpLeg, local: Omit<LocalAudio, 'version'>) {
    this.rtp = rtp
    this.#local = local
  }

  /** Each description has the next version (RFC 3264, section 8). */
  offer(): string {
    return writeOffer({ ...this.#local, version: ++this.#version }, this.#remote)
  }

  answer(offer: RemoteAudio): string {
    return writeAnswer({ ...this.#local, version: ++this.#version }, offer)
  }

  /** The answer to our newest offer. Null: the answer contains no usable audio. */
  answered(sdp: string): RemoteAudio | null {
    return readAnswer(sdp, this.#remote)
  }

  /** A later offer in the call. Null: the offer contains no usable audio. */
  offered(sdp: string): RemoteAudio | null {
    return readLaterOffer(sdp, this.#remote)
  }

  start(remote: RemoteAudio): void {
    this.#remote = remote
    this.rtp.start(remote)
  }
}
