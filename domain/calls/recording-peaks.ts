/**
 * Computes a recording's waveform peaks from its audio, if they were not written during the call: an earlier version of
 * Parley made the recording, or the process died.
 */
import { arePeaksOf, PeakMeter, peaksHeader } from '../../audio/peaks.ts'
import { wavHeader } from '../../audio/wav.ts'
import { Fault } from '../records/fault.ts'
import {
  recordingPeaksLayout as layout,
  type RecordingContent,
  recordingFrameBytes,
  recordingLayout,
} from '../records/recording.ts'

const audioOffset = wavHeader(recordingLayout, null).length
const framesIn = (sizeBytes: number) => Math.max(0, Math.floor((sizeBytes - audioOffset) / recordingFrameBytes))

/** Returns true if these are all peaks for a recording with this size in bytes. */
export function areCompletePeaks(peaks: Uint8Array, recordingBytes: number): boolean {
  return arePeaksOf(peaks, layout, framesIn(recordingBytes))
}

/** Reads the whole recording, and returns its peaks. */
export async function peaksOf(recording: RecordingContent): Promise<Uint8Array> {
  const meter = new PeakMeter(layout)
  const pixels: Uint8Array[] = []
  const end = audioOffset + framesIn(recording.size) * recordingFrameBytes
  let rest: Uint8Array = new Uint8Array(0)
  const pieces = end > audioOffset ? recording.read(audioOffset, end) : []
  for await (const piece of pieces) {
    // A part that `read` yields can end inside a frame, and can begin at an odd memory address, so its bytes are
    // copied.
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    const whole = bytes.length - (bytes.length % recordingFrameBytes)
    pixels.push(meter.add(new Int16Array(bytes.buffer, 0, whole / 2)))
    rest = bytes.subarray(whole)
  }
  pixels.push(meter.end())
  return Buffer.concat([peaksHeader(layout, meter.pixels), ...pixels])
}

/** Runs work when it is the organization's turn in a fair queue. Returns null if too much work waits. */
export type InTurn = <Result>(organizationId: string, work: () => Promise<Result>) => Promise<Result> | null

/** Computes peaks when it is their organization's turn. Requests for one recording share one computation. */
export class PeaksWork {
  readonly #running = new Map<string, Promise<Uint8Array>>()
  readonly #inTurn: InTurn

  constructor(inTurn: InTurn) {
    this.#inTurn = inTurn
  }

  /** Throws Fault `overloaded` if too many recordings wait. */
  run(organizationId: string, callId: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const running = this.#running.get(callId)
    if (running !== undefined) return running
    const turn = this.#inTurn(organizationId, make)
    if (turn === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    const made = turn.finally(() => this.#running.delete(callId))
    this.#running.set(callId, made)
    return made
  }
}
