/**
 * Writes a recording's waveform peaks while the recording grows. If this file fails, the recording goes on, and its
 * peaks are computed from the audio at the first request for them.
 */
import { PeakMeter, peaksHeader } from '../../../audio/peaks.ts'
import type { Log } from '../../ports/system.ts'
import { recordingPeaksLayout as layout, type RecordingFile } from '../../records/recording.ts'

/** The methods of a `RecordingFile` that are called while a recording grows. */
export type GrowingFile = Pick<RecordingFile, 'append' | 'replaceStart' | 'close'>

/** At most the peaks of five minutes may wait to be written. */
const waitingBytesMax = 60_000

export class RecordedPeaks {
  readonly #file: GrowingFile
  readonly #log: Log
  readonly #meter = new PeakMeter(layout)
  #waitingBytes = 0
  #work = Promise.resolve()
  #isFailed = false

  constructor(file: GrowingFile, log: Log) {
    this.#file = file
    this.#log = log
    // The header says zero pixels until the end, so a dead process's peaks are never taken for complete peaks.
    this.#append(peaksHeader(layout, 0))
  }

  /** Takes the recording's next samples, interleaved. */
  add(samples: Int16Array): void {
    this.#append(this.#meter.add(samples))
  }

  async close(): Promise<void> {
    this.#append(this.#meter.end())
    await this.#work
    try {
      if (!this.#isFailed) await this.#file.replaceStart(peaksHeader(layout, this.#meter.pixels))
    } catch (error) {
      this.#fail(error)
    }
    await this.#file.close().catch((error: unknown) => this.#fail(error))
  }

  #append(bytes: Uint8Array): void {
    if (this.#isFailed) return
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > waitingBytesMax) return this.#fail(new Error('the file of the peaks is too slow'))
    this.#work = this.#work.then(async () => {
      if (this.#isFailed) return
      try {
        await this.#file.append(bytes)
        this.#waitingBytes -= bytes.length
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  #fail(err: unknown): void {
    if (this.#isFailed) return
    this.#isFailed = true
    this.#log.warn({ err }, 'the peaks of a recording could not be written')
  }
}
