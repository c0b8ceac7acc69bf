/**
 * WS /tts-websocket: a configuration and a text; audio comes in base64 up to `audio_end`. For single requests too: over HTTP a failure in the middle is
 * told in trailers, and what was cut off would pass for all of it. The vendor takes more streams on a socket; here it serves one, so that what goes
 * wrong with it costs one text only, and the next text finds a socket that was opened ahead.
 */

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
import { speechFrames, spokenFormat } from './tts-fields.ts'
import { classOfFrame } from './wire.ts'

type SpeechParts = { sockets: SocketTransport; apiKey: string | null; clock: Clock; limits: OutboundLimits }

/** Speech is billed, so one that waits costs nothing. One that is not spoken to for 20 s may be closed, before its first stream too. */
export const speechStandby: Standby = { keepAlive: { text: '{"keep_alive":true}', everyMs: 10_000 }, idleMsMax: 60_000 }

/** It need only differ from those of other streams on its socket, and there are none. */
const streamId = 'text'

export async function synthesize(parts: SpeechParts, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const format = spokenFormat(request.wanted)
  const frames = speechFrames(request, format, streamId)
  const socket = await parts.sockets.open(parts.apiKey, { path: '/tts-websocket' }, signal)
  const audio = hear(socket, parts, signal)
  for (const frame of frames) socket.send(JSON.stringify(frame))
  return { format, audio }
}

function hear(socket: OutboundSocket, { apiKey, clock, limits }: SpeechParts, signal: AbortSignal): SpeechQueue {
  let isDone = false
  const queue = new SpeechQueue({
    clock,
    limits,
    signal,
    over: () => {
      // What it has not spoken yet need not be made any more.
      if (!isDone) socket.send(JSON.stringify({ stream_id: streamId, cancel: true }))
      socket.close()
    },
  })
  socket.listen(
    jsonFrames({
      frame(frame) {
        const { error_code: code, audio, audio_end: isWhole, terminated } = frame
        isDone = code !== undefined || isWhole === true || terminated === true
        if (code !== undefined) throw failureOf(frame, apiKey)
        if (audio !== undefined) queue.push(samplesOf(audio))
        if (isWhole === true) queue.end()
        // Whoever cancels is told the same as who was cut off.
        else if (terminated === true) throw protocolError('terminated before audio_end')
      },
      failed: (error) => queue.fail(error),
      closed: (code, reason) => queue.fail(protocolError(excerpt(`closed with ${code} ${reason}`, apiKey))),
    }),
  )
  return queue
}

const failureOf = (frame: JsonObject, apiKey: string | null) =>
  new ProviderError(classOfFrame(frame), { sent: true, cause: excerpt(JSON.stringify(frame), apiKey) })

function samplesOf(audio: unknown): Buffer {
  if (typeof audio !== 'string') throw protocolError('audio that is no text')
  return Buffer.from(audio, 'base64')
}
