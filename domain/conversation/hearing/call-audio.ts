/** Passes the caller's and the agent's voice to the call's recording, and logs the recording's status. */
import type { Clock, Log } from '../../ports/system.ts'
import type { CallLog } from '../parts/call-log.ts'
import type { CallRecorder, ConversationInput, OpenResampler, SampleConverter } from '../parts/deps.ts'
import { recordingRateHz } from './recorder.ts'

/** If a recording does not close in this time, it has failed. */
const closeMs = 10_000
/** At most this many chunks of the agent's audio wait for the resampler. Opening a resampler takes milliseconds. */
const waitingMax = 500

export type CallAudioDeps = { clock: Clock; log: Log; openResampler: OpenResampler }

export class CallAudio {
  readonly #deps: CallAudioDeps
  readonly #recorder: CallRecorder | null
  readonly #log: CallLog
  #converter: SampleConverter | 'none' | 'opening' | 'failed'
  /** Holds the agent's audio until the resampler is open. */
  #waiting: { samples: Int16Array; endMs: number }[] = []
  #closing: Promise<void> | null = null

  /** `recorder` is null if the call is not recorded. */
  constructor(deps: CallAudioDeps, recorder: CallRecorder | null, log: CallLog, agentRateHz: number) {
    this.#deps = deps
    this.#recorder = recorder
    this.#log = log
    this.#converter = recorder === null || agentRateHz === recordingRateHz ? 'none' : 'opening'
    if (this.#converter === 'opening') void this.#open(agentRateHz)
  }

  get isRecorded(): boolean {
    return this.#recorder !== null
  }

  begin(): void {
    this.#log.recording(this.#recorder === null ? 'suppressed' : 'recording', null)
  }

  /** Records the caller's samples, which have just arrived and have the rate `recordingRateHz`. */
  caller(samples: Int16Array): void {
    this.#recorder?.caller.write(samples, this.#deps.clock.monotonicMs())
  }

  /** Records the agent's samples, which are played until `endMs`. */
  agent(samples: Int16Array, endMs: number): void {
    const converter = this.#converter
    if (converter === 'none') this.#recorder?.agent.write(samples, endMs)
    else if (converter === 'opening') this.#wait(samples, endMs)
    // Without a resampler the audio would play at the wrong speed, so the agent's track stays silent.
    else if (converter !== 'failed') this.#recorder?.agent.write(converter.convert(samples), endMs)
  }

  #wait(samples: Int16Array, endMs: number): void {
    if (this.#waiting.length < waitingMax) this.#waiting.push({ samples: samples.slice(), endMs })
  }

  /**
   * Call this when the socket is lost. The next audio is then placed at its arrival time instead of directly after the
   * last audio.
   */
  callerStopped(): void {
    this.#recorder?.caller.restart()
  }

  /** Resolves when the log has the recording's final status. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (typeof this.#converter === 'object') this.#converter.close()
    if (this.#recorder === null) return
    this.#log.recording('uploading', null)
    const durationMs = await this.#closed(this.#recorder)
    if (durationMs === null) this.#log.recording('failed', null)
    else if (this.#recorder.endsAs === 'ready') this.#log.recording('ready', durationMs)
  }

  #closed(recorder: CallRecorder): Promise<number | null> {
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(closeMs, () => resolve(null))
      recorder
        .close()
        .catch(() => null)
        .then((durationMs) => {
          cancel()
          resolve(durationMs)
        }, resolve)
    })
  }

  async #open(rateHz: number): Promise<void> {
    let converter: SampleConverter | null = null
    try {
      converter = await this.#deps.openResampler(rateHz, recordingRateHz)
      if (this.#closing !== null) return converter.close()
      this.#converter = converter
      for (const { samples, endMs } of this.#waiting) this.agent(samples, endMs)
    } catch (err) {
      converter?.close()
      this.#converter = 'failed'
      this.#deps.log.error({ err }, 'the voice of the agent cannot be resampled for the recording')
    } finally {
      this.#waiting = []
    }
  }
}

/** Waits until the call's end is stored, then calls `ended`, even if storing failed. Never rejects. */
export async function endedAfter(
  stored: Promise<void>,
  log: Pick<Log, 'error'>,
  { call, ended }: Pick<ConversationInput, 'call' | 'ended'>,
): Promise<void> {
  try {
    await stored
  } catch (err) {
    log.error({ err, sessionId: call.id }, 'the end of a call was not stored')
  }
  ended()
}
