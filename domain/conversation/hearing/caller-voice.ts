/** The caller's voice: start and end of speech, the transcript, and the caller's side of the recording. */
import type { StreamTranscript } from '../../ports/stt.ts'
import type { ConversationInput, GuardedDeps } from '../parts/deps.ts'
import type { FailoverRecord } from '../parts/failover-record.ts'
import type { CallAudio } from './call-audio.ts'
import { Listening, observedBy, type Said } from './listening.ts'
import { Transcription, type TranscriptionEvents } from './transcription.ts'

export type CallerVoiceEvents = Pick<TranscriptionEvents, 'reopened' | 'transcriptionLost'> & {
  /** Both methods receive a time on the monotonic clock. */
  speechStarted(atMs: number): void
  speechEnded(atMs: number): void
  transcript(transcript: StreamTranscript, said: Said): void
}

export class CallerVoice {
  readonly transcription: Transcription
  readonly #listening: Listening
  readonly #audio: CallAudio

  constructor(
    deps: GuardedDeps,
    { call, routing, request, observer }: ConversationInput,
    { audio, record, sampleRateHz }: { audio: CallAudio; record: FailoverRecord; sampleRateHz: number },
    events: CallerVoiceEvents,
  ) {
    const { clock, transcribeStream } = deps
    this.#audio = audio
    this.transcription = new Transcription({ clock, transcribeStream, request, record }, call.pipeline, routing.stt, {
      ...events,
      transcript: (transcript) => {
        observer?.words(transcript.text, transcript.isFinal)
        events.transcript(transcript, this.#listening.spanOf(transcript))
      },
    })
    const observed = observedBy(observer, {
      ...events,
      audio: (samples) => {
        audio.caller(samples)
        this.transcription.audio(samples)
      },
    })
    this.#listening = new Listening(deps, sampleRateHz, observed)
  }

  /** Processes samples from the call. The buffer may be reused after the function returns. */
  received(samples: Int16Array): void {
    this.#listening.audio(samples)
  }

  /** Reports a frame with the agent's audio that is played to the caller now. Its echo must not count as speech. */
  agentFrame(samples: Int16Array): void {
    this.#listening.agentFrame(samples)
  }

  /** Call this when no audio arrives for a while. Any current speech then counts as ended. */
  silence(): void {
    this.#listening.silence()
    this.#audio.callerStopped()
  }

  close(): void {
    this.#listening.close()
    this.transcription.close()
  }
}
