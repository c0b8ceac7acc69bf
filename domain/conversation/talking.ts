/**
 * A running conversation. It decides what its parts do when something happens: the caller's media, a client's message,
 * a transfer, a loss, an end. Started by `startConversation`.
 */
import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../ports/media.ts'
import type { Fault } from '../records/fault.ts'
import type { EndReason } from '../records/states/call.ts'
import { ConversationParts } from './conversation-parts.ts'
import { endedAfter } from './hearing/call-audio.ts'
import { type CallLog, roomClosed, roomOpened } from './parts/call-log.ts'
import type { ConversationInput, GuardedDeps } from './parts/deps.ts'
import type { Conversation, JoinedPerson } from './parts/live-call.ts'
import { isHopeless } from './parts/stage-retries.ts'
import {
  type AfterHold,
  type HoldSound,
  type Screening,
  type ScreeningEvents,
  transferNotes,
} from './parts/transferable.ts'
import { SpokenScreening } from './people/screening.ts'
import { greetingHint } from './turns/session-timers.ts'

export class Talking implements Conversation {
  readonly #deps: GuardedDeps
  readonly #input: ConversationInput
  readonly #log: CallLog
  #media: MediaTransport | null
  readonly #firstMedia: MediaTransport
  readonly #parts: ConversationParts
  /** `clientReason` is the API client's reason for the end. */
  #ending: { reason: EndReason; fault: SessionFault | null; clientReason?: string | undefined } | null = null
  #peopleSpeak = false
  #isSilenced = false
  #isOver = false

  constructor(deps: GuardedDeps, input: ConversationInput, media: MediaTransport, log: CallLog) {
    this.#deps = deps
    this.#input = input
    this.#media = this.#firstMedia = media
    this.#log = log
    this.#parts = new ConversationParts(deps, input, media, log, {
      activityChanged: () => this.#followActivity(),
      agentHungUp: () => this.#end('agent_hangup', null),
      stageLost: (fault) => this.#lost(fault),
      sessionOver: () => this.#finish(),
      note: (text) => this.#note(text),
      show: (event) => this.#show(event),
      agentIsMuted: (isMuted) => {
        this.#peopleSpeak = isMuted
        this.#mute()
      },
      holdChanged: (sound) => this.#holdChanged(sound),
      timeUp: (reason) => this.#close(reason, null, input.call.pipeline.endCallMessage),
    })
  }

  get isOver(): boolean {
    return this.#isOver || this.#parts.hold.isGone
  }

  get isEnding(): boolean {
    return this.#ending !== null || this.isOver
  }

  get isTransferring(): boolean {
    return this.#parts.hold.isRequested && !this.#isOver
  }

  get isHandedOver(): boolean {
    return this.#parts.hold.isGone && !this.#isOver
  }

  begin(): void {
    const { audio, sounds, turns } = this.#parts
    const { backgroundAudio, firstMessage, firstMessageMode, turnHandling } = this.#input.call.pipeline
    this.#log.connected()
    roomOpened(this.#log, this.#input.call.identity)
    audio.begin()
    sounds.load(backgroundAudio, this.#deps.log)
    const isProtected = turnHandling.interruption.protectFirstMessage
    if (this.#input.note !== undefined) this.#note(this.#input.note)
    if (firstMessageMode === 'generate') turns.prompt(null, greetingHint, isProtected)
    else if (firstMessageMode === 'message' && firstMessage !== null) turns.prompt(firstMessage, '', isProtected)
    this.#followActivity()
  }

  audio(samples: Int16Array): void {
    if (this.#isOver || this.#parts.hold.isHeld) return
    this.#parts.caller.received(samples)
    this.#parts.people.caller(samples)
  }

  played(mark: string): void {
    this.#parts.playout.played(mark)
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#parts.playout.cleared(mark, playedMs)
    if (!this.#isOver) this.#parts.turns.cleared()
  }

  userMessage(text: string): void {
    if (this.#ending === null) this.#parts.turns.typed(text, { typed: true })
  }

  contextualUpdate(text: string): void {
    this.#note(text)
  }

  #note(text: string): void {
    if (this.#isOver) return
    this.#parts.turns.note(text)
    this.#parts.record.systemTurn(text)
  }

  dtmf(digits: string): void {
    if (this.#ending === null && !this.#parts.hold.isHeld) this.#parts.digits.push(digits)
  }

  toolResult(id: string, result: string, isError: boolean): boolean {
    return this.#parts.tools.result(id, result, isError)
  }

  join(person: JoinedPerson, media: MediaTransport): MediaSink {
    const { people, shown, turns } = this.#parts
    shown.showTo(media, turns.phase)
    return people.join(person, media)
  }

  #holdChanged(sound: HoldSound | null): void {
    const { caller, sounds, people } = this.#parts
    this.#mute()
    if (sound !== null) caller.silence()
    sounds.hold(sound)
    people.hold(sound !== null)
    this.#followActivity()
  }

  #mute(): void {
    this.#parts.turns.mute(this.#peopleSpeak || this.#parts.hold.isHeld || this.#isSilenced)
  }

  hold(sound: HoldSound, held: () => void): boolean {
    if (this.isEnding) return false
    this.#parts.hold.begin(sound, held)
    this.#note(transferNotes.begun)
    return true
  }

  resume({ note, message, hint, endsCall }: AfterHold): void {
    if (this.isEnding) return
    this.#parts.hold.end(() =>
      endsCall ? this.#close('agent_hangup', null, message) : this.#parts.turns.prompt(message, hint, true, true),
    )
    this.#note(note)
  }

  handOver(): void {
    if (this.isEnding) return
    this.#note(transferNotes.done)
    this.#parts.hold.handOver()
    this.#closeParts('transferred', null)
    this.#log.event('room.agent_left', {})
    void this.#parts.audio.close()
  }

  silence(isSilent: boolean): void {
    this.#isSilenced = isSilent
    this.#mute()
  }

  leave(reason: EndReason, message: string | null): void {
    this.silence(false)
    this.#close(reason, null, message, true)
  }

  screen(text: string, media: MediaTransport, events: ScreeningEvents): Screening {
    return new SpokenScreening(this.#deps, this.#input, media, text, events)
  }

  gone(): void {
    this.#media = null
    this.#parts.playout.use(null)
    this.#parts.caller.silence()
    this.#parts.timers.busy()
  }

  back(transport: MediaTransport): void {
    if (this.#isOver) return transport.close(this.#ending?.reason ?? 'agent_hangup', null)
    this.#media = transport
    this.#log.event('room.participant_reconnected', { identity: this.#input.call.identity })
    this.#parts.playout.use(transport)
    this.#parts.shown.forget()
    this.#followActivity()
  }

  hangUp(): void {
    this.#end(this.#parts.hold.isGone ? 'transferred' : 'user_hangup', null)
  }

  end(reason: EndReason, clientReason?: string): void {
    const isShutDown = reason === 'server_shutdown'
    // After a handover the call continues at the carrier without this process, so it has not failed.
    const isHandedOver = isShutDown && this.#parts.hold.isGone
    this.#end(isHandedOver ? 'transferred' : reason, isShutDown ? 'shutting_down' : null, clientReason)
  }

  creditGone(): void {
    if (this.#ending === null && !this.#isOver) this.#log.event('budget.exhausted', {})
    this.#close('credit_exhausted', 'budget_exhausted', null)
  }

  /** Handles an error from our code in this conversation. */
  defect(err: unknown): void {
    this.#deps.log.error({ err, sessionId: this.#input.call.id }, 'a conversation has failed')
    if (this.#isOver) return
    this.#end('pipeline_failed', 'internal')
    // A defect in the code that ends the conversation must not prevent the end.
    if (!this.#isOver) this.#finish()
  }

  #end(reason: EndReason, fault: SessionFault | null, clientReason = this.#ending?.clientReason): void {
    if (this.#isOver) return
    this.#ending = { reason, fault, clientReason }
    this.#parts.turns.end()
  }

  /** Ends the conversation after the current sentence and the agent's last words. */
  #close(reason: EndReason, fault: SessionFault | null, text: string | null, isMessage = false): void {
    if (this.#ending !== null) return
    this.#ending = { reason, fault }
    this.#parts.turns.close(text, isMessage)
  }

  #lost(fault: Fault): void {
    if (isHopeless(fault)) return this.creditGone()
    this.#deps.log.warn({ sessionId: this.#input.call.id, kind: fault.kind }, 'a session has lost a stage')
    this.#end('pipeline_failed', 'upstream')
  }

  #show(event: SessionEvent): void {
    this.#media?.notify(event)
    this.#parts.people.notify(event)
  }

  /** Shows the agent's state, goes on with a requested hold, and starts or stops the silence timers. */
  #followActivity(): void {
    if (this.#isOver) return
    const { hold, people, shown, timers, turns } = this.#parts
    shown.show(turns.phase)
    hold.advance()
    if (turns.isQuiet && !hold.isHeld && this.#media !== null && people.count === 0) timers.quiet()
    else timers.busy()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { reason, fault, clientReason } = this.#ending ?? { reason: 'agent_hangup', fault: null }
    this.#parts.digits.close()
    this.#closeParts(reason, fault)
    roomClosed(this.#log, this.#input.call.identity, !this.#parts.hold.isGone)
    this.#media?.close(reason, fault)
    this.#firstMedia.over?.(fault)
    const stored = this.#parts.audio.close().then(() => this.#log.ended(reason, clientReason))
    void endedAfter(stored, this.#deps.log, this.#input)
  }

  #closeParts(reason: EndReason, fault: SessionFault | null): void {
    const { caller, people, playout, sounds, timers } = this.#parts
    sounds.close()
    timers.stop()
    caller.close()
    playout.close()
    people.close((media) => media.close(reason, fault))
  }
}
