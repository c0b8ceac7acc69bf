/** The two ends of the audio of a leg, between its stream and its conversation. */
import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../ports/media.ts'
import type { EndReason } from '../records/states/call.ts'

/** The stream of a leg whose end is noticed. */
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

/** The leg, as its conversation acts on it. */
export type LegActions = {
  pressKeys(digits: string): Promise<void>
  /** The conversation is over. Its record may not be complete. */
  over(fault: SessionFault | null): void
}

/** Receives the audio of a leg. Until the conversation has begun, it is dropped. */
export class LegSink implements MediaSink {
  #conversation: MediaSink | null = null
  readonly #lost: () => void
  #isHandedOver = false
  /** Audio has come since the last look: the leg lives. */
  hasAudio = false

  /** `lost` is called when the stream is over. */
  constructor(lost: () => void) {
    this.#lost = lost
  }

  /** The caller talks to somebody else over the line: the call goes on without its stream. */
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

  // A phone types nothing and runs no tools.

  userMessage(): void {}

  contextualUpdate(): void {}

  toolResult(): boolean {
    return false
  }
}
