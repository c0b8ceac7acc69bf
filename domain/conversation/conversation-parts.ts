/**
 * Makes the parts of a conversation, and connects each part to the parts that it needs. If an event concerns the whole
 * conversation, it goes to `PartEvents`: `Talking` decides what happens then.
 */
import type { MediaTransport, SessionEvent } from '../ports/media.ts'
import { CallAudio } from './hearing/call-audio.ts'
import { CallerVoice } from './hearing/caller-voice.ts'
import { Digits } from './hearing/digits.ts'
import { Transcription } from './hearing/transcription.ts'
import type { CallLog } from './parts/call-log.ts'
import type { ConversationEvents } from './parts/conversation-events.ts'
import type { ConversationInput, GuardedDeps } from './parts/deps.ts'
import type { HoldSound } from './parts/transferable.ts'
import { CallerHold } from './people/caller-hold.ts'
import { JoinedPeople } from './people/joined-people.ts'
import { BackgroundSounds } from './speaking/background-sounds.ts'
import { Playout } from './speaking/playout.ts'
import { idleHint, SessionTimers } from './turns/session-timers.ts'
import { ShownState } from './turns/shown-state.ts'
import { ToolCalls } from './turns/tool-calls.ts'
import { TurnRecord } from './turns/turn-record.ts'
import { Turns } from './turns/turns.ts'

export type PartEvents = Omit<ConversationEvents, 'userSpoke'> & {
  /** Adds a text to the transcript and to the LLM's input. */
  note(text: string): void
  /** Shows an event to the caller's page and to the people who have joined. */
  show(event: SessionEvent): void
  /** Called when joined people begin to speak for the agent, or when the agent may speak again. */
  agentIsMuted(isMuted: boolean): void
  /** Called when a hold begins or ends. If `sound` is null, the caller is with the agent again. */
  holdChanged(sound: HoldSound | null): void
  /** Called when the user has been silent for too long, or when the session has reached its maximum duration. */
  timeUp(reason: 'silence_timeout' | 'max_duration'): void
}

/** The dependencies for each part. */
type PartDeps = GuardedDeps & { events: ConversationEvents; sampleRateHz: number }

export class ConversationParts {
  readonly shown: ShownState
  readonly audio: CallAudio
  readonly playout: Playout
  readonly sounds: BackgroundSounds
  readonly tools: ToolCalls
  readonly record: TurnRecord
  readonly transcription: Transcription
  readonly turns: Turns
  readonly caller: CallerVoice
  readonly people: JoinedPeople
  readonly hold: CallerHold
  readonly timers: SessionTimers
  readonly digits: Digits
  readonly #deps: PartDeps
  readonly #input: ConversationInput
  readonly #log: CallLog
  readonly #events: PartEvents

  constructor(guarded: GuardedDeps, input: ConversationInput, media: MediaTransport, log: CallLog, events: PartEvents) {
    const { sampleRateHz } = media
    // The recording begins at the same moment, so times in the call and in the recording are equal.
    const originMs = guarded.clock.monotonicMs()
    const deps = { ...guarded, sampleRateHz, events: { ...events, userSpoke: () => this.timers.userSpoke() } }
    this.#deps = deps
    this.#input = input
    this.#log = log
    this.#events = events
    this.shown = new ShownState((event) => events.show(event))
    this.audio = new CallAudio(deps, input.recorder, log, sampleRateHz)
    this.playout = this.#makePlayout(media)
    this.sounds = new BackgroundSounds(this.playout, sampleRateHz)
    this.tools = this.#makeTools(media)
    this.record = this.#makeRecord(originMs)
    this.transcription = this.#makeTranscription()
    this.turns = this.#makeTurns()
    this.caller = this.#makeCaller()
    this.people = this.#makePeople()
    this.hold = this.#makeHold()
    this.timers = this.#makeTimers()
    this.digits = new Digits(deps.clock, (digits) => this.turns.typed(`[keypad ${digits}]`, { dtmf: true }))
  }

  #makePlayout(media: MediaTransport): Playout {
    return new Playout(media, this.#deps, {
      started: () => this.turns.agentStarted(),
      finished: () => {
        this.timers.agentSpoke()
        this.turns.agentFinished()
      },
      drained: () => this.turns.drained(),
      frame: (samples) => this.caller.agentFrame(samples),
      ...(this.audio.isRecorded && {
        played: (samples: Int16Array, endMs: number) => this.audio.agent(samples, endMs),
      }),
    })
  }

  #makeTools(media: MediaTransport): ToolCalls {
    const log = this.#log
    return new ToolCalls({
      clock: this.#deps.clock,
      call: this.#input.call,
      runTool: this.#deps.runTool,
      notify: (event) => this.#events.show(event),
      event: (type, payload) => log.event(type, payload),
      scheduleCallback: (callback) => log.callback(callback),
      pressKeys: media.pressKeys ? (digits) => media.pressKeys?.(digits) ?? Promise.resolve() : null,
    })
  }

  #makeRecord(originMs: number): TurnRecord {
    return new TurnRecord({
      clock: this.#deps.clock,
      newId: this.#deps.newId,
      log: this.#log,
      notify: (event) => this.#events.show(event),
      sttRoute: () => this.transcription.route,
      playout: this.playout,
      originMs,
      trace: this.#input.trace ?? null,
    })
  }

  #makeTranscription(): Transcription {
    const { call, routing, request } = this.#input
    const deps = { ...this.#deps, request, record: this.record }
    return new Transcription(deps, call.pipeline, routing.stt, {
      transcript: (transcript) => this.caller.transcript(transcript),
    })
  }

  #makeTurns(): Turns {
    const { tools, playout, record, transcription } = this
    const toolsRun = (isRunning: boolean) => this.sounds.tool(isRunning)
    return new Turns({ ...this.#deps, tools, playout, record, transcription, toolsRun }, this.#input)
  }

  #makeCaller(): CallerVoice {
    const { audio, transcription, turns } = this
    const { sampleRateHz } = this.#deps
    return new CallerVoice(this.#deps, { audio, transcription, turns, observer: this.#input.observer, sampleRateHz })
  }

  #makePeople(): JoinedPeople {
    const { record, turns } = this
    const note = (text: string) => this.#events.note(text)
    const deps = { ...this.#deps, input: this.#input, callLog: this.#log, record, turns, note }
    return new JoinedPeople(deps, {
      changed: () => {
        this.playout.connect(this.people.count > 0 ? this.people : null)
        this.#events.activityChanged()
      },
      agentIsMuted: (isMuted) => this.#events.agentIsMuted(isMuted),
    })
  }

  #makeHold(): CallerHold {
    return new CallerHold(this.#deps.clock, {
      endSentence: () => this.turns.endSentence(),
      agentSpeaks: () => this.turns.isAgents,
      awaitsText: () => this.turns.awaitsText,
      changed: (sound) => this.#events.holdChanged(sound),
    })
  }

  #makeTimers(): SessionTimers {
    return new SessionTimers(this.#deps.clock, this.#input.call.pipeline, {
      idle: (text) => this.turns.prompt(text, idleHint),
      silence: () => this.#events.timeUp('silence_timeout'),
      maxDuration: () => this.#events.timeUp('max_duration'),
    })
  }
}
