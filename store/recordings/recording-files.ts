/** Stores recordings as files in a local folder: `<call>.wav`, and its peaks in `<call>.peaks`. */

import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RecordingContent, RecordingFile, Recordings } from '../../domain/records/recording.ts'
import { isUuid } from '../postgres/row-values.ts'

/** Recordings contain callers' conversations, so only this process's user may read them. */
const folderMode = 0o700
const fileMode = 0o600
const pieceBytes = 65_536

export function createRecordingFiles(folder: string): Recordings {
  function pathOf(callId: string, ending: '.wav' | '.peaks' = '.wav'): string {
    // A call's id is a UUID. Any other text could name a file in another folder.
    if (!isUuid(callId)) throw new Error('a recording is named by the id of a call')
    return join(folder, `${callId}${ending}`)
  }
  async function create(path: string): Promise<RecordingFile> {
    await mkdir(folder, { recursive: true, mode: folderMode })
    return new OpenRecording(await open(path, 'w+', fileMode), 0)
  }
  return {
    create: async (callId) => create(pathOf(callId)),
    async open(callId) {
      const handle = await ifExists(open(pathOf(callId), 'r+'))
      return handle && new OpenRecording(handle, (await handle.stat()).size)
    },
    async find(callId) {
      const path = pathOf(callId)
      const stats = await ifExists(stat(path))
      return stats && contentOf(path, stats.size, stats.mtimeMs)
    },
    createPeaks: async (callId) => create(pathOf(callId, '.peaks')),
    findPeaks: async (callId) => ifExists(readFile(pathOf(callId, '.peaks'))),
    async keepPeaks(callId, peaks) {
      const path = pathOf(callId, '.peaks')
      // A reader must never see a part of the peaks, so the complete file gets its name at the end.
      await writeFile(`${path}.part`, peaks, { mode: fileMode })
      await rename(`${path}.part`, path)
    },
    async remove(callId) {
      // Retention finds a recording by its audio. So the audio is removed last, in case the process ends in between.
      const peaks = pathOf(callId, '.peaks')
      for (const path of [`${peaks}.part`, peaks, pathOf(callId)]) await rm(path, { force: true })
    },
    madeBefore: (beforeMs) => madeBefore(folder, beforeMs),
  }
}

async function* madeBefore(folder: string, beforeMs: number): AsyncGenerator<string> {
  const names = await ifExists(opendir(folder))
  for await (const { name } of names ?? []) {
    const id = name.endsWith('.wav') ? name.slice(0, -'.wav'.length) : ''
    if (isUuid(id) && Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) < beforeMs) yield id
  }
}

class OpenRecording implements RecordingFile {
  readonly #handle: FileHandle
  #size: number

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  async append(bytes: Uint8Array): Promise<void> {
    const at = this.#size
    this.#size += bytes.length
    await this.#write(bytes, at)
  }

  replaceStart(bytes: Uint8Array): Promise<void> {
    return this.#write(bytes, 0)
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  /** Writes all bytes. A single write may take only some bytes, so it is repeated. */
  async #write(bytes: Uint8Array, at: number): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, written, bytes.length - written, at + written)
      written += bytesWritten
    }
  }
}

function contentOf(path: string, size: number, modifiedAtMs: number): RecordingContent {
  return {
    size,
    modifiedAtMs,
    read: (start, end) => piecesOf(path, start, end),
  }
}

/** Opens the file at the first piece. A HEAD request reads no piece, so it opens no file. */
async function* piecesOf(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { start, end: end - 1, highWaterMark: pieceBytes }) as AsyncIterable<Buffer>
}

async function ifExists<T>(access: Promise<T>): Promise<T | null> {
  try {
    return await access
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  }
}
