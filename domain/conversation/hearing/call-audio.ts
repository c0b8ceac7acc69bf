/** Hands both voices of a call to its recording, and says how the recording goes. */
import type { Clock, Log } from '../../ports/system.ts'
import type { CallLog } from '../parts/call-log.ts'
import type { CallRecorder, ConversationInput, OpenResampler, SampleConverter } from '../parts/deps.ts'
import { recordingRateHz } from './recorder.ts'

/** A recording that does not end in this time has failed. */
const closeMs = 10_000

export type CallAudioDeps = { clock: Clock; log: Log; openResampler: OpenResampler }

export class CallAudio {
  readonly #deps: CallAudioDeps
  readonly #recorder: CallRecorder | null
  readonly #log: CallLog
  #converter: SampleConverter | null = null
  #closing: Promise<void> | null = null

  /** `recorder` is null for a call that is not recorded. */
  constructor(deps: CallAudioDeps, recorder: CallRecorder | null, log: CallLog, agentRateHz: number) {
    this.#deps = deps
    this.#recorder = recorder
    this.#log = log
    if (recorder !== null && agentRateHz !== recordingRateHz) void this.#open(agentRateHz)
  }

  get isRecorded(): boolean {
    return this.#recorder !== null
  }

  begin(): void {
    this.#log.recording(this.#recorder === null ? 'suppressed' : 'recording', null)
  }

  /** Samples at `recordingRateHz` that have just come. */
  caller(samples: Int16Array): void {
    this.#recorder?.caller.write(samples, this.#deps.clock.monotonicMs())
  }

  /** Samples of the agent that were played until `endMs`. */
  agent(samples: Int16Array, endMs: number): void {
    this.#recorder?.agent.write(this.#converter === null ? samples : this.#converter.convert(samples), endMs)
  }

  /** The socket was lost: what comes next is apart. */
  callerStopped(): void {
    this.#recorder?.caller.restart()
  }

  /** Resolves when it is written how the recording has ended. Never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#converter?.close()
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
    try {
      this.#converter = await this.#deps.openResampler(rateHz, recordingRateHz)
    } catch (err) {
      this.#deps.log.error({ err }, 'the voice of the agent cannot be resampled for the recording')
    }
  }
}

/** Reports the end of a call when its record is complete, also when that was not stored. Never rejects. */
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
