/** The caller's voice: start and end of speech, the transcript, and the caller's side of the recording. */
import type { CallerObserver } from '../../answering/caller-observer.ts'
import type { StreamTranscript } from '../../ports/stt.ts'
import type { GuardedDeps } from '../parts/deps.ts'
import type { CallAudio } from './call-audio.ts'
import { Listening, type Said, type SpeechSpans } from './listening.ts'
import type { Transcription } from './transcription.ts'

export type CallerVoiceParts = {
  audio: CallAudio
  transcription: Transcription
  turns: SpeechSpans & { transcript(transcript: StreamTranscript, said: Said): void }
  observer: CallerObserver | null
  sampleRateHz: number
}

export class CallerVoice {
  readonly #parts: CallerVoiceParts
  readonly #listening: Listening

  constructor(deps: GuardedDeps, parts: CallerVoiceParts) {
    const { audio, transcription, turns, observer, sampleRateHz } = parts
    this.#parts = parts
    this.#listening = new Listening(deps, sampleRateHz, {
      speech: turns,
      audio: (samples) => {
        audio.caller(samples)
        transcription.audio(samples)
      },
      observer,
    })
  }

  /** Processes samples from the call. The buffer may be reused after the function returns. */
  received(samples: Int16Array): void {
    this.#listening.audio(samples)
  }

  /** Passes the transcript to the turns, with the time when its words were spoken. */
  transcript(transcript: StreamTranscript): void {
    const { observer, turns } = this.#parts
    observer?.words(transcript.text, transcript.isFinal)
    turns.transcript(transcript, this.#listening.spanOf(transcript))
  }

  /** Reports a frame with the agent's audio that is played to the caller now. Its echo must not count as speech. */
  agentFrame(samples: Int16Array): void {
    this.#listening.agentFrame(samples)
  }

  /** Call this when no audio arrives for a while. Any current speech then counts as ended. */
  silence(): void {
    this.#listening.silence()
    this.#parts.audio.callerStopped()
  }

  close(): void {
    this.#listening.close()
    this.#parts.transcription.close()
  }
}
