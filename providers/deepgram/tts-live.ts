/**
 * WS /v1/speak: one text, then its audio in binary frames up to `Flushed`. A socket serves one text, because audio
 * frames do not name their text: after a cancelled text, the next text's first frame could not be identified.
 */
import type { Tts } from '../../domain/ports/tts.ts'
import { frameFailure } from '../wire/failures.ts'
import { type LiveTtsOptions, type LiveTtsProtocol, receiveSpeech } from '../wire/live-tts.ts'
import type { WarmRules } from '../wire/socket.ts'
import { speechQuery, spokenFormat } from './tts-fields.ts'
import { classOfClose, classOfFrame } from './wire.ts'

/** Characters are billed, so an idle socket costs nothing. The vendor's idle limit is not published. */
export const warmTts: WarmRules = { keepAlive: null, idleMsMax: 30_000 }

/** Makes the socket synthesis. Formats without socket support go to `synthesize`, over HTTP. */
export function createLive({
  synthesize,
  ...options
}: LiveTtsOptions & Pick<Tts, 'synthesize'>): NonNullable<Tts['live']> {
  return async (request, signal) => {
    if (request.outputFormat.encoding === 'opus') return synthesize(request, signal)
    const format = spokenFormat(request.outputFormat)
    const path = `/v1/speak?${speechQuery(request, format).toString()}`
    const socket = await options.sockets.open(options.apiKey, { path }, signal)
    const audio = receiveSpeech(socket, options, speakProtocol(options.apiKey), signal)
    socket.send(JSON.stringify({ type: 'Speak', text: request.text }))
    socket.send('{"type":"Flush"}')
    return { format, audio }
  }
}

function speakProtocol(apiKey: string | null): LiveTtsProtocol {
  let isFlushed = false
  return {
    binaryAudio: true,
    frame(frame, queue) {
      isFlushed ||= frame['type'] === 'Flushed'
      if (isFlushed) queue.end()
      else if (frame['type'] === 'Error') throw frameFailure(classOfFrame(frame), frame, apiKey)
    },
    // `Clear` makes the vendor cancel the speech not generated yet.
    farewell: () => (isFlushed ? ['{"type":"Close"}'] : ['{"type":"Clear"}', '{"type":"Close"}']),
    classOfClose,
  }
}
