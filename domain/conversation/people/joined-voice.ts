/** Transcribes a person who has joined, and detects speech and the ends of turns. */
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { Route } from '../../dispatch/request.ts'
import type { Fault } from '../../records/fault.ts'
import { Listening, type Said } from '../hearing/listening.ts'
import { Transcription } from '../hearing/transcription.ts'
import type { ConversationDeps, ConversationInput } from '../parts/deps.ts'
import type { FailoverRecord } from '../parts/failover-record.ts'
import { type SaidTurn, UserTurn } from '../turns/user-turn.ts'

export type JoinedVoiceDeps = Pick<
  ConversationDeps,
  'clock' | 'log' | 'newId' | 'vad' | 'openResampler' | 'transcribeStream'
> & {
  input: ConversationInput
  sampleRateHz: number
  record: FailoverRecord
  /** Called when transcription has failed for good. */
  transcriptionFailed: (fault: Fault) => void
}

export type JoinedVoiceEvents = {
  /** Receives the samples at `vadRateHz`. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void
  /** Called with interim words, so they may still change. */
  saying(id: string, text: string): void
  said(turn: SaidTurn): void
}

export class JoinedVoice {
  readonly #events: JoinedVoiceEvents
  readonly #listening: Listening
  readonly #transcription: Transcription
  readonly #user: UserTurn
  #talks = false
  /** True if voice activity detection has found speech while the current words were spoken. */
  #isSpeech = false

  constructor(deps: JoinedVoiceDeps, events: JoinedVoiceEvents, observer: CallerObserver | null = null) {
    const { clock, transcribeStream, record, input, sampleRateHz } = deps
    const { call, routing, request } = input
    const { pipeline } = call
    this.#events = events
    const transcriptionDeps = {
      clock,
      transcribeStream,
      request,
      record,
      events: { stageLost: deps.transcriptionFailed },
    }
    this.#transcription = new Transcription(transcriptionDeps, pipeline, routing.stt, {
      transcript: (transcript) => {
        observer?.words(transcript.text, transcript.isFinal)
        const said = this.#listening.spanOf(transcript)
        if (this.#user.add(transcript, said)) this.#words(said)
        else if (this.#isSpeech && !this.#talks && this.#user.text !== '') this.#user.decide()
      },
    })
    this.#user = new UserTurn({ ...deps, transcription: this.#transcription }, pipeline, {
      decided: () => this.#decided(),
      nothingSaid: () => {
        this.#isSpeech = false
        this.#user.keepListening()
      },
      // The agent does not answer people, so no answer is begun early.
      guess: () => {},
      flush: () => this.#transcription.flush(),
    })
    const speech = {
      onset: (atMs: number) => {
        this.#talks = this.#isSpeech = true
        this.#user.startSpeech(atMs)
      },
      offset: (atMs: number) => {
        this.#talks = false
        this.#user.endSpeech(atMs)
        this.#user.decide()
      },
    }
    this.#listening = new Listening(deps, sampleRateHz, {
      speech,
      audio: (samples) => {
        events.audio(samples)
        this.#transcription.audio(samples)
      },
      observer,
    })
  }

  /** Returns the route to the active speech-to-text provider. */
  get route(): Route | null {
    return this.#transcription.route
  }

  /** Processes the person's samples. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void {
    this.#listening.audio(samples)
  }

  /** Reports a frame that the person receives, because its echo must not count as speech. */
  received(samples: Int16Array): void {
    this.#listening.agentFrame(samples)
  }

  /** Call this when no audio arrives for a while. */
  silence(): void {
    this.#listening.silence()
  }

  /** Ends the transcription. The current words become a turn, even if they are not final. */
  close(): void {
    if (this.#isSpeech && this.#user.text !== '') this.#decided()
    this.#user.close()
    this.#listening.close()
    this.#transcription.close()
  }

  #words(said: Said): void {
    this.#isSpeech ||= this.#user.isSpeech(said)
    if (!this.#isSpeech) return this.#dropIfFinal()
    this.#events.saying(this.#user.id, this.#user.text)
    if (!this.#talks) this.#user.decide()
  }

  /**
   * Drops final words without detected speech, because recognizers find words in noise. An interim transcript is kept,
   * because it can be the start of speech that voice activity detection finds a moment later.
   */
  #dropIfFinal(): void {
    if (this.#user.isFinal) this.#user.drop()
  }

  #decided(): void {
    const turn = this.#user.take()
    this.#isSpeech = this.#talks
    this.#transcription.forgetAudio()
    this.#events.said(turn)
  }
}
