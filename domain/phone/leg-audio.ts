/**
 * Connects a leg's audio stream to its conversation. `LegTransport` passes audio to the phone, `LegSink` from the
 * phone.
 */
import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../ports/media.ts'
import type { EndReason } from '../records/states/call.ts'

/** Passes audio to a leg's stream. It also reports the conversation's end, and sends DTMF through the carrier. */
export class LegTransport implements MediaTransport {
  readonly sampleRateHz: number
  readonly #stream: MediaTransport
  readonly #leg: LegActions

  constructor(stream: MediaTransport, leg: LegActions) {
    this.sampleRateHz = stream.sampleRateHz
    this.#stream = stream
    this.#leg = leg
  }

  frame(samples: Int16Array): void {
    this.#stream.frame(samples)
  }

  mark(name: string): void {
    this.#stream.mark(name)
  }

  clear(): void {
    this.#stream.clear()
  }

  notify(event: SessionEvent): void {
    this.#stream.notify(event)
  }

  pressKeys(digits: string): Promise<void> {
    return this.#leg.pressKeys(digits)
  }

  close(reason: EndReason, fault: SessionFault | null): void {
    this.#stream.close(reason, fault)
  }

  over(fault: SessionFault | null): void {
    this.#leg.over(fault)
  }
}

/** Actions on the leg, called by its conversation. */
export type LegActions = {
  pressKeys(digits: string): Promise<void>
  /** Called when the conversation is over. Its record may not be complete yet. */
  over(fault: SessionFault | null): void
}

/** Passes a leg's audio to its conversation. Audio before the conversation begins is dropped. */
export class LegSink implements MediaSink {
  #conversation: MediaSink | null = null
  readonly #lost: () => void
  #isHandedOver = false
  /** True if audio has arrived since the last check. The leg is then still connected. */
  hasAudio = false

  /** `lost` is called when the stream has ended. */
  constructor(lost: () => void) {
    this.#lost = lost
  }

  /**
   * Called when the carrier has connected the caller with another person. From now on the end of the stream does not
   * end the call.
   */
  handOver(): void {
    this.#isHandedOver = true
  }

  begin(conversation: MediaSink): void {
    this.#conversation = conversation
  }

  audio(samples: Int16Array): void {
    this.hasAudio = true
    this.#conversation?.audio(samples)
  }

  played(mark: string): void {
    this.#conversation?.played(mark)
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#conversation?.cleared(mark, playedMs)
  }

  dtmf(digits: string): void {
    this.#conversation?.dtmf(digits)
  }

  gone(): void {
    if (!this.#isHandedOver) this.#conversation?.gone()
    this.#lost()
  }

  back(transport: MediaTransport): void {
    this.#conversation?.back(transport)
  }

  hangUp(): void {
    this.#conversation?.hangUp()
  }

  // A phone cannot type text and runs no tools.

  userMessage(): void {}

  contextualUpdate(): void {}

  toolResult(): boolean {
    return false
  }
}
