/** Joins a leg's stream to its conversation: one class for each direction. */
import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../ports/media.ts'
import type { EndReason } from '../records/states/call.ts'

/** A leg's stream that also reports the conversation's end and sends DTMF over the line. */
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

/** The conversation's actions on its leg. */
export type LegActions = {
  pressKeys(digits: string): Promise<void>
  /** The conversation is over. Its record may not be complete. */
  over(fault: SessionFault | null): void
}

/** Receives a leg's audio, and drops it until the conversation has begun. */
export class LegSink implements MediaSink {
  #conversation: MediaSink | null = null
  readonly #lost: () => void
  #isHandedOver = false
  /** True if audio has come since the last look, so the leg lives. */
  hasAudio = false

  /** `lost` is called when the stream is over. */
  constructor(lost: () => void) {
    this.#lost = lost
  }

  /** The caller talks to another person over the line: the call goes on without its stream. */
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
