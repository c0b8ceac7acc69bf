/**
 * WS /tts/websocket: a text is a context, and its audio comes in base64 up to `done`. The vendor takes more contexts after that; here a socket serves
 * one, so that what goes wrong with it costs one text only, and the next text finds a socket that was opened ahead.
 */
import { randomUUID } from 'node:crypto'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Speech, TtsRequest } from '../../domain/speech/tts.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { excerpt, protocolError } from '../wire/failures.ts'
import { type JsonObject } from '../wire/json.ts'
import { jsonFrames } from '../wire/json-frames.ts'
import type { SocketTransport, Standby } from '../wire/socket.ts'
import { SpeechQueue } from '../wire/speech-queue.ts'
import { speechBody, spokenFormat } from './tts-fields.ts'
import { classOfFrame, closedEarly } from './wire.ts'

export type LiveParts = { sockets: SocketTransport; apiKey: string | null; clock: Clock; limits: OutboundLimits }

/** Speech is billed, and contexts count against the plan's limit: a socket that waits is neither. Idle ones were seen to end after 120 s. */
export const standby: Standby = { keepAlive: null, idleMsMax: 100_000 }

export async function speakLive(parts: LiveParts, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const format = spokenFormat(request.wanted)
  // Unique for the account: contexts are what its plan counts.
  const contextId = randomUUID()
  const text = JSON.stringify({ ...speechBody(request, format), context_id: contextId, continue: false })
  const socket = await parts.sockets.open(parts.apiKey, { path: '/tts/websocket' }, signal)
  const audio = hear(socket, contextId, parts, signal)
  socket.send(text)
  return { format, audio }
}

function hear(
  socket: OutboundSocket,
  contextId: string,
  { apiKey, clock, limits }: LiveParts,
  signal: AbortSignal,
): SpeechQueue {
  let isDone = false
  const queue = new SpeechQueue({
    clock,
    limits,
    signal,
    over: () => {
      // What it has not spoken yet need not be made any more.
      if (!isDone) socket.send(JSON.stringify({ context_id: contextId, cancel: true }))
      socket.close()
    },
  })
  socket.listen(
    jsonFrames({
      frame(frame) {
        isDone = frame['type'] === 'done' || frame['type'] === 'error'
        if (frame['type'] === 'error')
          throw new ProviderError(classOfFrame(frame), { sent: true, cause: excerpt(JSON.stringify(frame), apiKey) })
        if (frame['type'] === 'chunk') queue.push(samplesOf(frame))
        if (isDone) queue.end()
      },
      failed: (error) => queue.fail(error),
      closed: (code, reason) => queue.fail(closedEarly(code, reason, apiKey)),
    }),
  )
  return queue
}

function samplesOf({ data }: JsonObject): Buffer {
  if (typeof data !== 'string') throw protocolError('a chunk without its data')
  return Buffer.from(data, 'base64')
}
