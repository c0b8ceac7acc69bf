/**
 * A simulated conversation in which the agent only takes time: it speaks, ends its sentence before a hold, and speaks
 * after a hold. Only the hold of the caller runs with the product's code.
 */
import type { Conversation, LiveCall } from '../../../domain/conversation/parts/live-call.ts'
import type {
  AfterHold,
  HoldSound,
  Screening,
  ScreeningEvents,
} from '../../../domain/conversation/parts/transferable.ts'
import { CallerHold } from '../../../domain/conversation/people/caller-hold.ts'
import type { MediaSink, MediaTransport, SessionFault } from '../../../domain/ports/media.ts'
import type { Clock } from '../../../domain/ports/system.ts'
import type { EndReason } from '../../../domain/records/states/call.ts'
import { newTurn } from '../../calls/call.ts'

const greetingMs = 1_500
const messageMs = 1_200
/** The time from the agent's text until its first sound. */
const firstSoundMs = 60

const silent = {
  audio() {},
  played() {},
  cleared() {},
  dtmf() {},
  userMessage() {},
  contextualUpdate() {},
  toolResult: () => false,
}

export class ModelledAgent implements Conversation {
  readonly #clock: Clock
  readonly #live: LiveCall
  readonly #over: () => void
  readonly #hold: CallerHold
  #media: MediaTransport | null
  readonly #firstMedia: MediaTransport
  #isSpeaking = false
  /** A text that waits until the agent may speak. */
  #waiting: { ends: EndReason | null } | null = null
  #cancelSpeech = () => {}
  #ending: { reason: EndReason; fault: SessionFault | null } | null = null
  #isOver = false
  /** The question to the latest recipient whether to accept the call. Null if no recipient is being asked. */
  asked: ScreeningEvents | null = null
  /** True if the caller is back with the agent, and the agent has not spoken yet since then. */
  owesWords = false

  constructor(clock: Clock, live: LiveCall, media: MediaTransport, over: () => void) {
    this.#clock = clock
    this.#live = live
    this.#media = this.#firstMedia = media
    this.#over = over
    this.#hold = new CallerHold(clock, {
      endSentence: () => this.#endSentence(),
      agentSpeaks: () => this.#isSpeaking,
      awaitsText: () => this.#waiting !== null,
      changed: () => {},
    })
    live.log?.connected()
    live.log?.turn(newTurn({ text: 'I want to buy a bicycle.' }))
    this.speak(greetingMs)
  }

  get isOver(): boolean {
    return this.#isOver || this.#hold.isGone
  }

  get isEnding(): boolean {
    return this.#ending !== null || this.isOver
  }

  get isTransferring(): boolean {
    return this.#hold.isRequested && !this.#isOver
  }

  get isHandedOver(): boolean {
    return this.#hold.isGone && !this.#isOver
  }

  get isEnded(): boolean {
    return this.#isOver
  }

  /** Returns the caller's present party: agent, hold or gone. */
  get where(): 'agent' | 'hold' | 'gone' {
    if (this.#hold.isGone) return 'gone'
    return this.#hold.isHeld ? 'hold' : 'agent'
  }

  /** Lets the agent speak for `ms`. */
  speak(ms: number): void {
    if (this.#isOver || this.#isSpeaking || this.#waiting !== null || this.#hold.isHeld) return
    this.#sound(ms, () => {})
  }

  hold(sound: HoldSound, held: () => void): boolean {
    if (this.isEnding) return false
    this.#hold.begin(sound, held)
    return true
  }

  resume({ endsCall }: AfterHold): void {
    if (this.isEnding) return
    this.owesWords = true
    this.#hold.end(() => this.#say(endsCall ? 'agent_hangup' : null))
  }

  handOver(): void {
    if (this.isEnding) return
    this.#hold.handOver()
    this.#cancelSpeech()
    this.#waiting = null
    this.#isSpeaking = false
  }

  creditGone(): void {
    if (this.#ending !== null) return
    this.#ending = { reason: 'credit_exhausted', fault: 'budget_exhausted' }
    if (!this.#isSpeaking) this.#finish()
  }

  screen(_text: string, _media: MediaTransport, events: ScreeningEvents): Screening {
    let isClosed = false
    const asked: ScreeningEvents = {
      decided: (decision) => {
        if (!isClosed) events.decided(decision)
      },
      observer: events.observer,
    }
    this.asked = asked
    const close = () => {
      isClosed = true
    }
    return { ...silent, gone: close, back() {}, hangUp: close, close }
  }

  audio(): void {}

  played(): void {}

  cleared(): void {}

  dtmf(): void {}

  userMessage(): void {}

  contextualUpdate(): void {}

  toolResult(): boolean {
    return false
  }

  gone(): void {
    this.#media = null
  }

  back(transport: MediaTransport): void {
    if (this.#isOver) transport.close(this.#ending?.reason ?? 'agent_hangup', null)
    else this.#media = transport
  }

  join(): MediaSink {
    throw new Error('nobody joins')
  }

  silence(): void {}

  leave(reason: EndReason): void {
    this.end(reason)
  }

  hangUp(): void {
    this.#end(this.#hold.isGone ? 'transferred' : 'user_hangup', null)
  }

  end(reason: EndReason): void {
    const isShutDown = reason === 'server_shutdown'
    this.#end(isShutDown && this.#hold.isGone ? 'transferred' : reason, isShutDown ? 'shutting_down' : null)
  }

  #say(ends: EndReason | null): void {
    if (this.#isOver || this.#ending !== null) return
    this.#cancelSpeech()
    this.#isSpeaking = false
    this.#waiting = { ends }
    this.#cancelSpeech = this.#clock.after(firstSoundMs, () => {
      this.#waiting = null
      this.owesWords = false
      this.#sound(messageMs, () => ends !== null && this.#end(ends, null))
    })
  }

  #sound(ms: number, said: () => void): void {
    this.#isSpeaking = true
    this.#cancelSpeech = this.#clock.after(ms, () => {
      this.#isSpeaking = false
      said()
      this.#hold.advance()
      if (this.#ending !== null) this.#finish()
    })
    this.#hold.advance()
  }

  #endSentence(): boolean {
    return this.#isSpeaking
  }

  #end(reason: EndReason, fault: SessionFault | null): void {
    if (this.#isOver) return
    this.#ending = { reason, fault }
    this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelSpeech()
    const { reason, fault } = this.#ending ?? { reason: 'agent_hangup', fault: null }
    this.#media?.close(reason, fault)
    this.#firstMedia.over?.(fault)
    void this.#live.log?.ended(reason).then(this.#over, this.#over)
  }
}
