/** Writes an answer. An event stream leaves frame by frame, so a client receives it as from a real server. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Answer } from './answer.ts'

export async function send(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  if (Array.isArray(body)) return sendFrames(response, status, headers, body as readonly string[])
  const bytes = typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array | null)
  const length = bytes === null ? {} : { 'Content-Length': bytes.length }
  response.writeHead(status, { ...headers, ...length })
  response.end(bytes ?? undefined)
}

async function sendFrames(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  frames: readonly string[],
): Promise<void> {
  response.writeHead(status, { ...headers, 'X-Accel-Buffering': 'no' })
  try {
    await pipeline(Readable.from(oneEachTurn(frames)), response)
  } catch (error) {
    // A client may leave before the last frame.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

async function* oneEachTurn(frames: readonly string[]): AsyncGenerator<string> {
  for (const frame of frames) {
    yield frame
    await nextTurn()
  }
}
