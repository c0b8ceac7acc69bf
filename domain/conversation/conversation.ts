/**
 * A conversation between a caller and an agent.
 *
 *   media ─► Listening ─► Transcription ─┐
 *                                        ├─► Turns ─► AgentTurn ─► Playout ─► media
 *   page: texts, digits, tool results ───┘
 */
import { backgroundClip } from '../../audio/background.ts'
import { RepeatingClip } from '../../audio/mix.ts'
import type { EndReason } from '../calls/states.ts'
import type { Route } from '../dispatch/request.ts'
import type { Fault } from '../fault.ts'
import type { Conversation } from '../sessions/live-call.ts'
import { CallAudio } from './call-audio.ts'
import type { CallLog } from './call-log.ts'
import type { ConversationDeps, ConversationInput } from './deps.ts'
import { Digits } from './digits.ts'
import { type GuardedDeps, guardedConversation, guardedDeps } from './guarded.ts'
import { JoinedPeople, type JoinedPerson } from './joined-people.ts'
import { Listening } from './listening.ts'
import type { AgentState, MediaSink, MediaTransport, SessionEvent, SessionFault } from './media.ts'
import { normalizerOf } from './normalizer.ts'
import { Playout } from './playout.ts'
import { SessionTimers } from './session-timers.ts'
import { ToolCalls } from './tool-calls.ts'
import { isHopeless, Transcription } from './transcription.ts'
import type { TurnPhase } from './turn-machine.ts'
import { TurnRecord } from './turn-record.ts'
import { Turns } from './turns.ts'
import { vadRateHz } from './vad.ts'

/** Begins to talk over `media`. */
export function startConversation(
  deps: ConversationDeps,
  input: ConversationInput,
  media: MediaTransport,
  log: CallLog,
): Conversation {
  const failed = (err: unknown) => conversation.defect(err)
  const conversation: Talking = new Talking(guardedDeps(deps, failed), input, media, log)
  const guarded = guardedConversation(conversation, failed)
  try {
    conversation.begin()
  } catch (error) {
    failed(error)
  }
  return guarded
}

const stateOf: Record<TurnPhase, AgentState> = {
  listening: 'listening',
  userSpeaking: 'listening',
  deciding: 'listening',
  thinking: 'thinking',
  speaking: 'speaking',
  paused: 'speaking',
  closing: 'speaking',
  over: 'listening',
}

class Talking implements Conversation {
  readonly #deps: GuardedDeps
  readonly #input: ConversationInput
  readonly #log: CallLog
  #media: MediaTransport | null
  readonly #listening: Listening
  readonly #transcription: Transcription
  readonly #playout: Playout
  readonly #audio: CallAudio
  readonly #tools: ToolCalls
  readonly #turns: Turns
  readonly #record: TurnRecord
  readonly #timers: SessionTimers
  readonly #digits: Digits
  /** The sound of a tool that runs. Null until it is ready. */
  #toolSound: RepeatingClip | null = null
  #shown: AgentState | null = null
  #ending: { reason: EndReason; fault: SessionFault | null } | null = null
  /** The words of the client of the API about the end. */
  #clientReason: string | undefined
  readonly #people: JoinedPeople
  #isOver = false

  constructor(deps: GuardedDeps, input: ConversationInput, media: MediaTransport, log: CallLog) {
    const { clock } = deps
    const { pipeline } = input.call
    const notify = (event: SessionEvent) => this.#show(event)
    // The recording begins now as well, so that both have the same times.
    const originMs = clock.monotonicMs()
    this.#deps = deps
    this.#input = input
    this.#media = media
    this.#log = log
    this.#transcription = this.#transcribe()
    this.#audio = new CallAudio(deps, input.recorder, log, media.sampleRateHz)
    this.#listening = new Listening(deps, media.sampleRateHz, {
      speechStarted: (atMs) => this.#turns.speechStarted(atMs),
      speechEnded: (atMs) => this.#turns.speechEnded(atMs),
      audio: (samples) => {
        this.#audio.caller(samples)
        this.#transcription.audio(samples)
      },
    })
    this.#playout = new Playout(media, deps, {
      started: () => this.#turns.agentStarted(),
      finished: () => {
        this.#timers.agentSpoke()
        this.#turns.agentFinished()
      },
      drained: () => this.#turns.drained(),
      frame: (samples) => this.#listening.agentFrame(samples),
      ...(this.#audio.isRecorded && {
        played: (samples: Int16Array, endMs: number) => this.#audio.agent(samples, endMs),
      }),
    })
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
    })
    this.#people = this.#makePeople(media.sampleRateHz)
    this.#turns = this.#makeTurns(media.sampleRateHz)
    this.#timers = new SessionTimers(clock, pipeline, {
      idle: (prompt) => this.#idle(prompt),
      silence: () => this.#close('silence_timeout', null, pipeline.endCallMessage),
      maxDuration: () => this.#close('max_duration', null, pipeline.endCallMessage),
    })
    this.#digits = new Digits(clock, (digits) => this.#turns.typed(`[keypad ${digits}]`, { dtmf: true }))
  }

  #transcribe(): Transcription {
    const { clock, transcribeStream } = this.#deps
    const { call, routing, request } = this.#input
    return new Transcription({ clock, transcribeStream, request }, call.pipeline, routing.stt, {
      transcript: (transcript) => {
        const startMs = this.#listening.msOf(transcript.startMs)
        this.#turns.transcript(transcript, { startMs, endMs: this.#listening.msOf(transcript.endMs) })
      },
      reopened: () => this.#turns.transcriptionReopened(),
      failedOver: (from, to) => this.#failedOver('stt', from, to),
      lost: (fault) => this.#lost(fault),
    })
  }

  #makePeople(sampleRateHz: number): JoinedPeople {
    const deps = { ...this.#deps, input: this.#input, callLog: this.#log, sampleRateHz }
    return new JoinedPeople(deps, {
      changed: () => {
        this.#playout.connect(this.#people.count > 0 ? this.#people : null)
        this.#moved()
      },
      agentIsMuted: (isMuted) => this.#turns.mute(isMuted),
      note: (text) => this.contextualUpdate(text),
      saying: (id, text) => this.#record.agentText(id, text, false, false),
      said: (person, turn, by) => {
        this.#record.personTurn(turn, by, person)
        this.#turns.note(turn.text, 'assistant')
      },
      contextualUpdate: (text) => this.contextualUpdate(text),
      failedOver: (from, to) => this.#failedOver('stt', from, to),
      lost: (fault) => this.#lost(fault),
    })
  }

  #makeTurns(sampleRateHz: number): Turns {
    const { pipeline } = this.#input.call
    return new Turns(
      {
        ...this.#deps,
        request: this.#input.request,
        normalize: normalizerOf(pipeline),
        presetLike: this.#input.presetLike,
        tools: this.#tools,
        playout: this.#playout,
        sampleRateHz,
        record: this.#record,
      },
      this.#input,
      {
        moved: () => this.#moved(),
        failedOver: (stage, from, to) => this.#failedOver(stage, from, to),
        lost: (fault) => this.#lost(fault),
        finish: () => this.#finish(),
        agentHungUp: () => this.#end('agent_hangup', null),
        flush: () => this.#transcription.flush(),
        taken: () => this.#transcription.taken(),
        userSpoke: () => this.#timers.userSpoke(),
        toolsRun: (isRunning) => this.#playout.background('toolSound', isRunning ? this.#toolSound : null),
      },
    )
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(): void {
    const { firstMessage, firstMessageMode, turnHandling } = this.#input.call.pipeline
    this.#log.connected()
    const { identity } = this.#input.call
    this.#log.event('room.created', {})
    this.#log.event('room.participant_joined', { identity })
    this.#log.event('room.agent_joined', {})
    this.#audio.begin()
    this.#loadBackground()
    const { protectFirstMessage } = turnHandling.interruption
    if (firstMessageMode === 'generate') this.#turns.prompt(null, greetingHint, protectFirstMessage)
    else if (firstMessageMode === 'message' && firstMessage !== null)
      this.#turns.prompt(firstMessage, '', protectFirstMessage)
    this.#moved()
  }

  #loadBackground(): void {
    const { ambient, toolSound } = this.#input.call.pipeline.backgroundAudio
    const rateHz = this.#media?.sampleRateHz ?? vadRateHz
    const load = async (wanted: typeof ambient, use: (clip: RepeatingClip) => void) => {
      try {
        if (wanted !== null) use(new RepeatingClip(await backgroundClip(wanted.clip, rateHz), wanted.volume))
      } catch (err) {
        this.#deps.log.error({ err }, 'a background sound cannot be made')
      }
    }
    void load(ambient, (clip) => {
      if (!this.#isOver) this.#playout.background('ambient', clip)
    })
    void load(toolSound, (clip) => {
      this.#toolSound = clip
    })
  }

  audio(samples: Int16Array): void {
    if (this.#isOver) return
    this.#listening.audio(samples)
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
    if (this.#isOver) return
    this.#turns.note(text)
    this.#record.systemTurn(text)
  }

  dtmf(digits: string): void {
    if (this.#ending === null) this.#digits.push(digits)
  }

  toolResult(id: string, result: string, isError: boolean): boolean {
    return this.#tools.result(id, result, isError)
  }

  join(person: JoinedPerson, media: MediaTransport): MediaSink {
    media.notify({ type: 'state', state: stateOf[this.#turns.phase] })
    return this.#people.join(person, media)
  }

  gone(): void {
    this.#media = null
    this.#playout.use(null)
    this.#listening.silence()
    this.#audio.callerStopped()
    this.#timers.busy()
  }

  back(transport: MediaTransport): void {
    if (this.#isOver) return transport.close(this.#ending?.reason ?? 'agent_hangup', null)
    this.#media = transport
    this.#log.event('room.participant_reconnected', { identity: this.#input.call.identity })
    this.#playout.use(transport)
    this.#shown = null
    this.#moved()
  }

  hangUp(): void {
    this.#end('user_hangup', null)
  }

  end(reason: EndReason, clientReason?: string): void {
    if (!this.#isOver) this.#clientReason = clientReason
    this.#end(reason, reason === 'server_shutdown' ? 'shutting_down' : null)
  }

  /** An error of ours that was thrown in this conversation. */
  defect(err: unknown): void {
    this.#deps.log.error({ err, sessionId: this.#input.call.id }, 'a conversation has failed')
    if (this.#isOver) return
    this.#end('pipeline_failed', 'internal')
    // The defect may be in the way to the end.
    if (!this.#isOver) this.#finish()
  }

  #end(reason: EndReason, fault: SessionFault | null): void {
    if (this.#isOver) return
    this.#ending = { reason, fault }
    this.#turns.end()
  }

  /** Ends it after the sentence under way and some last words. */
  #close(reason: EndReason, fault: SessionFault | null, text: string | null): void {
    if (this.#ending !== null) return
    this.#ending = { reason, fault }
    this.#turns.close(text)
  }

  #lost(fault: Fault): void {
    if (!isHopeless(fault)) {
      this.#deps.log.warn({ sessionId: this.#input.call.id, kind: fault.kind }, 'a session has lost a stage')
      return this.#end('pipeline_failed', 'upstream')
    }
    if (this.#ending !== null) return
    this.#log.event('budget.exhausted', {})
    this.#close('credit_exhausted', 'budget_exhausted', null)
  }

  #idle(prompt: number): void {
    const { messages } = this.#input.call.pipeline.idleRePrompts
    const text = messages[Math.min(prompt, messages.length - 1)] ?? null
    this.#turns.prompt(text, idleHint)
  }

  #failedOver(stage: 'stt' | 'llm' | 'tts', from: Route | null, to: Route): void {
    this.#log.event('agent.failover', {
      stage,
      ...(from && { from: `${from.provider}/${from.model}` }),
      to: `${to.provider}/${to.model}`,
      failovers: to.failovers,
    })
  }

  #show(event: SessionEvent): void {
    this.#media?.notify(event)
    this.#people.notify(event)
  }

  #moved(): void {
    if (this.#isOver) return
    const state = stateOf[this.#turns.phase]
    if (state !== this.#shown) this.#show({ type: 'state', state })
    this.#shown = state
    if (this.#turns.isQuiet && this.#media !== null && this.#people.count === 0) this.#timers.quiet()
    else this.#timers.busy()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { reason, fault } = this.#ending ?? { reason: 'agent_hangup', fault: null }
    this.#timers.stop()
    this.#digits.close()
    this.#listening.close()
    this.#transcription.close()
    this.#playout.close()
    this.#people.close((media) => media.close(reason, fault))
    this.#log.event('room.participant_left', { identity: this.#input.call.identity })
    this.#log.event('room.agent_left', {})
    this.#log.event('room.closed', {})
    this.#media?.close(reason, fault)
    void this.#stored(reason)
  }

  async #stored(reason: EndReason): Promise<void> {
    try {
      await this.#audio.close()
      await this.#log.ended(reason, this.#clientReason)
    } catch (err) {
      this.#deps.log.error({ err, sessionId: this.#input.call.id }, 'the end of a call was not stored')
    }
    this.#input.ended()
  }
}

/** The LLM reads these as the words of the user, because many models answer only those. */
const greetingHint = '[The caller has joined. Greet them and begin the conversation.]'
const idleHint = '[The caller has said nothing for a while. Ask in one short sentence whether they are still there.]'
