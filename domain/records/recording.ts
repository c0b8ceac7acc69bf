/**
 * Where recordings lie while they grow, and from where they are read. A recording is one WAV file, named by its call. It
 * stays the file that it grew in, or goes to a bucket when its call is over.
 */
import type { Tenant } from './organization.ts'

export interface Recordings {
  /** Begins the recording of a call, and empties one that was begun before. */
  create(callId: string): Promise<RecordingFile>
  /** Opens a recording that was begun, to go on at its end. Null: there is no such recording. */
  open(callId: string): Promise<RecordingFile | null>
  /** Null: there is no such recording. */
  find(callId: string): Promise<RecordingContent | null>
  /** Does nothing when there is no such recording. */
  remove(callId: string): Promise<void>
  /** The calls with a recording here whose ids were made before: the beginning of the ids is a time (RFC 9562, version 7). */
  madeBefore(beforeMs: number): AsyncIterable<string>
}

/** Written bytes are on the disk of this machine when the promise resolves, so a process that dies loses nothing of it. */
export interface RecordingFile {
  /** In bytes. */
  readonly size: number
  append(bytes: Uint8Array): Promise<void>
  /** Replaces the first bytes: the header says how long the recording is, which is known at its end. */
  replaceStart(bytes: Uint8Array): Promise<void>
  close(): Promise<void>
}

export type RecordingContent = {
  /** In bytes. */
  size: number
  modifiedAtMs: number
  /** The bytes from `start` up to and without `end`, piece by piece. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

/** `id` is that of the call. */
export type RecordingPlace = Tenant & { id: string }

/** Recordings that are complete, on a server that all machines reach. */
export interface RecordingBucket {
  /** Replaces what is there, so an upload that broke is begun again. */
  put(place: RecordingPlace, content: RecordingContent, signal: AbortSignal): Promise<void>
  /** Null: there is no such recording. */
  find(place: RecordingPlace): Promise<RecordingContent | null>
  /** An address of the bucket's server that needs no key for `lifeS` seconds. */
  link(place: RecordingPlace, lifeS: number): Promise<string>
  /** Does nothing when there is no such recording. */
  remove(place: RecordingPlace): Promise<void>
  close(): void
}
