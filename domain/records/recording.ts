/**
 * Stores and reads recordings. A recording is one WAV file named after its call, and it can be read while it is being
 * written. After the call it stays a file or goes to a bucket.
 */
import type { PeaksLayout } from '../../audio/peaks.ts'
import type { Tenant } from './organization.ts'

/** The caller is on the left channel, the agent on the right. */
export const recordingLayout = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 2 } as const
export const recordingFrameBytes = 2 * recordingLayout.channels
/** One pixel of a recording's waveform peaks is 20 ms, the length of a media frame. */
export const recordingPeaksLayout: PeaksLayout = { sampleRateHz: 16_000, samplesPerPixel: 320, channels: 2 }

export interface Recordings {
  /** Begins a call's recording. If the file exists already, it is emptied. */
  create(callId: string): Promise<RecordingFile>
  /** Opens an existing recording to append to it. Resolves with null if there is no such recording. */
  open(callId: string): Promise<RecordingFile | null>
  /** Resolves with null if there is no such recording. */
  find(callId: string): Promise<RecordingContent | null>
  /** Begins the file with a recording's waveform peaks. If the file exists already, it is emptied. */
  createPeaks(callId: string): Promise<RecordingFile>
  /** Reads a recording's peaks, also while they are written. Resolves with null if there are no peaks. */
  findPeaks(callId: string): Promise<Uint8Array | null>
  /** Stores complete peaks, and replaces the peaks stored before. */
  keepPeaks(callId: string, peaks: Uint8Array): Promise<void>
  /** Removes a recording with its peaks. Does nothing if there is no such recording. */
  remove(callId: string): Promise<void>
  /**
   * Finds this machine's recordings from calls created before `beforeMs`, as call ids. The call id begins with the
   * creation time (UUID version 7, RFC 9562).
   */
  madeBefore(beforeMs: number): AsyncIterable<string>
}

/** Each write resolves after its bytes are on this machine's disk, so they survive the process's end. */
export interface RecordingFile {
  /** The size in bytes. */
  readonly size: number
  append(bytes: Uint8Array): Promise<void>
  /** Overwrites the file's beginning. Its header contains the recording's length, which is known only at the end. */
  replaceStart(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export type RecordingContent = {
  /** The size in bytes. */
  size: number
  modifiedAtMs: number
  /** Reads the bytes from `start` to `end`, exclusive, piece by piece. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** `id` is the call's id. */
export type RecordingPlace = Tenant & { id: string }

/** Stores complete recordings on a storage server that all machines can reach. */
export interface RecordingBucket {
  /** Uploads a recording. Replaces an existing object, so an interrupted upload can begin again. */
  put(place: RecordingPlace, content: RecordingContent, signal: AbortSignal): Promise<void>
  /** Resolves with null if there is no such recording. */
  find(place: RecordingPlace): Promise<RecordingContent | null>
  /** Makes a URL at the bucket's server, valid for `lifeS` seconds without a key. */
  link(place: RecordingPlace, lifeS: number): Promise<string>
  /** Resolves with null if there are no peaks. */
  findPeaks(place: RecordingPlace): Promise<Uint8Array | null>
  /** Stores complete peaks, and replaces the peaks stored before. */
  keepPeaks(place: RecordingPlace, peaks: Uint8Array): Promise<void>
  /** Removes a recording with its peaks. Does nothing if there is no such recording. */
  remove(place: RecordingPlace): Promise<void>
  close(): void
}
