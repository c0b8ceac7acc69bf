/** Connects the parts in a running conversation. Started by `startConversation`. */
import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../ports/media.ts'
import type { Fault } from '../records/fault.ts'
import type { EndReason } from '../records/states/call.ts'
import { CallAudio, endedAfter } from './hearing/call-audio.ts'
import { CallerVoice } from './hearing/caller-voice.ts'
import { Digits } from './hearing/digits.ts'
import { Transcription } from './hearing/transcription.ts'
import { type CallLog, roomClosed, roomOpened } from './parts/call-log.ts'
import type { ConversationEvents } from './parts/conversation-events.ts'
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
import { CallerHold } from './people/caller-hold.ts'
import { JoinedPeople } from './people/joined-people.ts'
import { SpokenScreening } from './people/screening.ts'
import { BackgroundSounds } from './speaking/background-sounds.ts'
import { Playout } from './speaking/playout.ts'
import { greetingHint, idleHint, SessionTimers } from './turns/session-timers.ts'
import { ShownState } from './turns/shown-state.ts'
import { ToolCalls } from './turns/tool-calls.ts'
import { TurnRecord } from './turns/turn-record.ts'
import { Turns } from './turns/turns.ts'

export class Talking implements Conversation {
  readonly #deps: GuardedDeps & { events: ConversationEvents }
  readonly #input: ConversationInput
  readonly #log: CallLog
  #media: MediaTransport | null
  readonly #firstMedia: MediaTransport
  readonly #transcription: Transcription
  readonly #caller: CallerVoice
  readonly #playout: Playout
  readonly #audio: CallAudio
  readonly #tools: ToolCalls
  readonly #turns: Turns
  readonly #record: TurnRecord
  readonly #timers: SessionTimers
  readonly #digits: Digits
  readonly #sounds: BackgroundSounds
  readonly #hold: CallerHold
  readonly #shown: ShownState
  /** `clientReason` is the API client's reason for the end. */
  #ending: { reason: EndReason; fault: SessionFault | null; clientReason?: string | undefined } | null = null
  readonly #people: JoinedPeople
  #peopleSpeak = false
  #isSilenced = false
  #isOver = false

  constructor(deps: GuardedDeps, input: ConversationInput, media: MediaTransport, log: CallLog) {
    const [{ clock }, { pipeline }] = [deps, input.call]
    const notify = (event: SessionEvent) => this.#show(event)
    // The recording begins at the same moment, so times in the call and in the recording are equal.
    const originMs = clock.monotonicMs()
    this.#deps = {
      ...deps,
      events: {
        activityChanged: () => this.#followActivity(),
        userSpoke: () => this.#timers.userSpoke(),
        agentHungUp: () => this.#end('agent_hangup', null),
        stageLost: (fault) => this.#lost(fault),
        sessionOver: () => this.#finish(),
      },
    }
    this.#input = input
    this.#media = this.#firstMedia = media
    this.#log = log
    this.#shown = new ShownState(notify)
    this.#audio = new CallAudio(deps, input.recorder, log, media.sampleRateHz)
    this.#playout = new Playout(media, deps, {
      started: () => this.#turns.agentStarted(),
      finished: () => {
        this.#timers.agentSpoke()
        this.#turns.agentFinished()
      },
      drained: () => this.#turns.drained(),
      frame: (samples) => this.#caller.agentFrame(samples),
      ...(this.#audio.isRecorded && {
        played: (samples: Int16Array, endMs: number) => this.#audio.agent(samples, endMs),
      }),
    })
    this.#sounds = new BackgroundSounds(this.#playout, media.sampleRateHz)
    this.#tools = new ToolCalls({
      clock,
      call: input.call,
      runTool: deps.runTool,
      notify,
      event: (type, payload) => log.event(type, payload),
      scheduleCallback: (callback) => log.callback(callback),
      pressKeys: media.pressKeys ? (digits) => media.pressKeys?.(digits) ?? Promise.resolve() : null,
    })
    this.#record = new TurnRecord({
      clock,
      newId: deps.newId,
      log,
      notify,
      sttRoute: () => this.#transcription.route,
      playout: this.#playout,
      originMs,
      trace: input.trace ?? null,
    })
    this.#transcription = this.#makeTranscription()
    this.#turns = this.#makeTurns(media.sampleRateHz)
    this.#caller = this.#makeCaller(media.sampleRateHz)
    this.#people = this.#makePeople(media.sampleRateHz)
    this.#hold = this.#makeHold()
    this.#timers = new SessionTimers(clock, pipeline, {
      idle: (text) => this.#turns.prompt(text, idleHint),
      silence: () => this.#close('silence_timeout', null, pipeline.endCallMessage),
      maxDuration: () => this.#close('max_duration', null, pipeline.endCallMessage),
    })
    this.#digits = new Digits(clock, (digits) => this.#turns.typed(`[keypad ${digits}]`, { dtmf: true }))
  }

  #makeTranscription(): Transcription {
    const { call, routing, request } = this.#input
    const deps = { ...this.#deps, request, record: this.#record }
    return new Transcription(deps, call.pipeline, routing.stt, {
      transcript: (transcript) => this.#caller.transcript(transcript),
    })
  }

  #makeCaller(sampleRateHz: number): CallerVoice {
    return new CallerVoice(this.#deps, {
      audio: this.#audio,
      transcription: this.#transcription,
      turns: this.#turns,
      observer: this.#input.observer,
      sampleRateHz,
    })
  }

  #makePeople(sampleRateHz: number): JoinedPeople {
    const [input, callLog, record, turns] = [this.#input, this.#log, this.#record, this.#turns]
    const note = (text: string) => this.#note(text)
    const deps = { ...this.#deps, input, callLog, sampleRateHz, record, turns, note }
    return new JoinedPeople(deps, {
      changed: () => {
        this.#playout.connect(this.#people.count > 0 ? this.#people : null)
        this.#followActivity()
      },
      agentIsMuted: (isMuted) => {
        this.#peopleSpeak = isMuted
        this.#mute()
      },
    })
  }

  #makeTurns(sampleRateHz: number): Turns {
    const [tools, playout, record, transcription] = [this.#tools, this.#playout, this.#record, this.#transcription]
    const toolsRun = (isRunning: boolean) => this.#sounds.tool(isRunning)
    const deps = { ...this.#deps, tools, playout, sampleRateHz, record, transcription, toolsRun }
    return new Turns(deps, this.#input)
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

  begin(): void {
    const { firstMessage, firstMessageMode, turnHandling } = this.#input.call.pipeline
    this.#log.connected()
    roomOpened(this.#log, this.#input.call.identity)
    this.#audio.begin()
    this.#sounds.load(this.#input.call.pipeline.backgroundAudio, this.#deps.log)
    const isProtected = turnHandling.interruption.protectFirstMessage
    if (this.#input.note !== undefined) this.#note(this.#input.note)
    if (firstMessageMode === 'generate') this.#turns.prompt(null, greetingHint, isProtected)
    else if (firstMessageMode === 'message' && firstMessage !== null) this.#turns.prompt(firstMessage, '', isProtected)
    this.#followActivity()
  }

  audio(samples: Int16Array): void {
    if (this.#isOver || this.#hold.isHeld) return
    this.#caller.received(samples)
    this.#people.caller(samples)
  }

  played(mark: string): void {
    this.#playout.played(mark)
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#playout.cleared(mark, playedMs)
    if (!this.#isOver) this.#turns.cleared()
  }

  userMessage(text: string): void {
    if (this.#ending === null) this.#turns.typed(text, { typed: true })
  }

  contextualUpdate(text: string): void {
    this.#note(text)
  }

  #note(text: string): void {
    if (this.#isOver) return
    this.#turns.note(text)
    this.#record.systemTurn(text)
  }

  dtmf(digits: string): void {
    if (this.#ending === null && !this.#hold.isHeld) this.#digits.push(digits)
  }

  toolResult(id: string, result: string, isError: boolean): boolean {
    return this.#tools.result(id, result, isError)
  }

  join(person: JoinedPerson, media: MediaTransport): MediaSink {
    this.#shown.showTo(media, this.#turns.phase)
    return this.#people.join(person, media)
  }

  #makeHold(): CallerHold {
    return new CallerHold(this.#deps.clock, {
      endSentence: () => this.#turns.endSentence(),
      agentSpeaks: () => this.#turns.isAgents,
      awaitsText: () => this.#turns.awaitsText,
      changed: (sound) => {
        this.#mute()
        if (sound !== null) this.#caller.silence()
        this.#sounds.hold(sound)
        this.#people.hold(sound !== null)
        this.#followActivity()
      },
    })
  }

  #mute(): void {
    this.#turns.mute(this.#peopleSpeak || this.#hold.isHeld || this.#isSilenced)
  }

  hold(sound: HoldSound, held: () => void): boolean {
    if (this.isEnding) return false
    this.#hold.begin(sound, held)
    this.#note(transferNotes.begun)
    return true
  }

  resume({ note, message, hint, endsCall }: AfterHold): void {
    if (this.isEnding) return
    this.#hold.end(() =>
      endsCall ? this.#close('agent_hangup', null, message) : this.#turns.prompt(message, hint, true, true),
    )
    this.#note(note)
  }

  handOver(): void {
    if (this.isEnding) return
    this.#note(transferNotes.done)
    this.#hold.handOver()
    this.#closeParts('transferred', null)
    this.#log.event('room.agent_left', {})
    void this.#audio.close()
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
    this.#playout.use(null)
    this.#caller.silence()
    this.#timers.busy()
  }

  back(transport: MediaTransport): void {
    if (this.#isOver) return transport.close(this.#ending?.reason ?? 'agent_hangup', null)
    this.#media = transport
    this.#log.event('room.participant_reconnected', { identity: this.#input.call.identity })
    this.#playout.use(transport)
    this.#shown.forget()
    this.#followActivity()
  }

  hangUp(): void {
    this.#end(this.#hold.isGone ? 'transferred' : 'user_hangup', null)
  }

  end(reason: EndReason, clientReason?: string): void {
    const isShutDown = reason === 'server_shutdown'
    // After a handover the call continues at the carrier without this process, so it has not failed.
    const isHandedOver = isShutDown && this.#hold.isGone
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
    this.#turns.end()
  }

  /** Ends the conversation after the current sentence and the agent's last words. */
  #close(reason: EndReason, fault: SessionFault | null, text: string | null, isMessage = false): void {
    if (this.#ending !== null) return
    this.#ending = { reason, fault }
    this.#turns.close(text, isMessage)
  }

  #lost(fault: Fault): void {
    if (isHopeless(fault)) return this.creditGone()
    this.#deps.log.warn({ sessionId: this.#input.call.id, kind: fault.kind }, 'a session has lost a stage')
    this.#end('pipeline_failed', 'upstream')
  }

  #show(event: SessionEvent): void {
    this.#media?.notify(event)
    this.#people.notify(event)
  }

  /** Shows the agent's state, goes on with a requested hold, and starts or stops the silence timers. */
  #followActivity(): void {
    if (this.#isOver) return
    this.#shown.show(this.#turns.phase)
    this.#hold.advance()
    if (this.#turns.isQuiet && !this.#hold.isHeld && this.#media !== null && this.#people.count === 0)
      this.#timers.quiet()
    else this.#timers.busy()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { reason, fault, clientReason } = this.#ending ?? { reason: 'agent_hangup', fault: null }
    this.#digits.close()
    this.#closeParts(reason, fault)
    roomClosed(this.#log, this.#input.call.identity, !this.#hold.isGone)
    this.#media?.close(reason, fault)
    this.#firstMedia.over?.(fault)
    const stored = this.#audio.close().then(() => this.#log.ended(reason, clientReason))
    void endedAfter(stored, this.#deps.log, this.#input)
  }

  #closeParts(reason: EndReason, fault: SessionFault | null): void {
    this.#sounds.close()
    this.#timers.stop()
    this.#caller.close()
    this.#playout.close()
    this.#people.close((media) => media.close(reason, fault))
  }
}
