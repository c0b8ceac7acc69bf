/**
 * Stores recordings while they grow and reads them. A recording is one WAV file named after its call. After the call it
 * stays in that file or goes to a bucket.
 */
import type { Tenant } from './organization.ts'

export interface Recordings {
  /** Begins a call's recording. If it was begun before, it is emptied. */
  create(callId: string): Promise<RecordingFile>
  /** Opens an existing recording to continue at its end. Null if there is no such recording. */
  open(callId: string): Promise<RecordingFile | null>
  /** Null if there is no such recording. */
  find(callId: string): Promise<RecordingContent | null>
  /** Does nothing if there is no such recording. */
  remove(callId: string): Promise<void>
  /**
   * The calls with a recording here and an id from before `beforeMs`: an id begins with its time (RFC 9562, version 7).
   */
  madeBefore(beforeMs: number): AsyncIterable<string>
}

/** A write resolves when its bytes are on this machine's disk, so a dying process loses nothing written. */
export interface RecordingFile {
  /** In bytes. */
  readonly size: number
  append(bytes: Uint8Array): Promise<void>
  /** Replaces the first bytes: the header contains the recording's length, which is known only at its end. */
  replaceStart(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export type RecordingContent = {
  /** In bytes. */
  size: number
  modifiedAtMs: number
  /** The bytes from `start` to `end`, exclusive, piece by piece. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** `id` is the call's id. */
export type RecordingPlace = Tenant & { id: string }

/** Stores complete recordings on a server reachable from all machines. */
export interface RecordingBucket {
  /** Replaces an existing object, so a broken upload can begin again. */
  put(place: RecordingPlace, content: RecordingContent, signal: AbortSignal): Promise<void>
  /** Null if there is no such recording. */
  find(place: RecordingPlace): Promise<RecordingContent | null>
  /** A URL at the bucket's server, valid for `lifeS` seconds without a key. */
  link(place: RecordingPlace, lifeS: number): Promise<string>
  /** Does nothing if there is no such recording. */
  remove(place: RecordingPlace): Promise<void>
  close(): void
}
