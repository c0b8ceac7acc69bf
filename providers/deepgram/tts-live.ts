/**
 * WS /v1/speak: one text, then its audio in binary frames up to `Flushed`. A socket serves one text: audio does not say which text it is of, so after a
 * text that was dropped in the middle nobody could tell where the next one begins.
 */

import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tts } from '../../domain/speech/tts.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { OutboundSocket } from '../../runtime/outbound/socket.ts'
import { excerpt } from '../wire/failures.ts'
import { jsonFrames } from '../wire/json-frames.ts'
import type { SocketTransport, Standby } from '../wire/socket.ts'
import { SpeechQueue } from '../wire/speech-queue.ts'
import { speechQuery, spokenFormat } from './tts-fields.ts'
import { classOfClose, classOfFrame } from './wire.ts'

type LiveParts = {
  sockets: SocketTransport
  apiKey: string | null
  clock: Clock
  limits: OutboundLimits
  /** For the formats that a socket does not speak. */
  synthesize: Tts['synthesize']
}

/** Characters are billed, so one that waits costs nothing. The vendor's own limit is not published. */
export const speakStandby: Standby = { keepAlive: null, idleMsMax: 30_000 }

export function createLive({ synthesize, ...parts }: LiveParts): NonNullable<Tts['live']> {
  return async (request, signal) => {
    if (request.wanted.encoding === 'opus') return synthesize(request, signal)
    const format = spokenFormat(request.wanted)
    const path = `/v1/speak?${speechQuery(request, format).toString()}`
    const socket = await parts.sockets.open(parts.apiKey, { path }, signal)
    const audio = hear(socket, parts, signal)
    socket.send(JSON.stringify({ type: 'Speak', text: request.text }))
    socket.send('{"type":"Flush"}')
    return { format, audio }
  }
}

function hear(
  socket: OutboundSocket,
  { apiKey, clock, limits }: Omit<LiveParts, 'synthesize'>,
  signal: AbortSignal,
): SpeechQueue {
  let isFlushed = false
  const queue = new SpeechQueue({
    clock,
    limits,
    signal,
    over: () => {
      // What it has not spoken yet need not be made any more.
      if (!isFlushed) socket.send('{"type":"Clear"}')
      socket.send('{"type":"Close"}')
      socket.close()
    },
  })
  socket.listen(
    jsonFrames({
      frame(frame) {
        isFlushed ||= frame['type'] === 'Flushed'
        if (isFlushed) queue.end()
        else if (frame['type'] === 'Error')
          throw new ProviderError(classOfFrame(frame), { sent: true, cause: excerpt(JSON.stringify(frame), apiKey) })
      },
      binary: (bytes) => queue.push(bytes),
      failed: (error) => queue.fail(error),
      closed(code, reason) {
        const cause = excerpt(`closed with ${code} ${reason}`, apiKey)
        queue.fail(new ProviderError(classOfClose(code, reason) ?? 'protocol', { sent: true, cause }))
      },
    }),
  )
  return queue
}
