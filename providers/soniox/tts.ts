/**
 * WS /tts-websocket: we send a configuration and a text, and receive base64 audio up to `audio_end`. Single requests
 * use the socket too: over HTTP the vendor reports a failure in trailers, so truncated audio would look complete. The
 * vendor allows several streams on a socket. Here each socket serves one text, so a failure affects only one text, and
 * the next text uses a socket opened in advance.
 */
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
import { frameFailure, protocolError } from '../wire/failures.ts'
import { type LiveTtsOptions, type LiveTtsProtocol, receiveSpeech, samplesOf } from '../wire/live-tts.ts'
import type { WarmRules } from '../wire/socket.ts'
import { speechFrames, spokenFormat } from './tts-fields.ts'
import { classOfFrame } from './wire.ts'

/**
 * Speech is billed, so an idle socket costs nothing. The vendor may close a socket after 20 s without a frame, even
 * before its first stream.
 */
export const warmTts: WarmRules = { keepAlive: { text: '{"keep_alive":true}', everyMs: 10_000 }, idleMsMax: 60_000 }

/** The stream's id. It must be unique on its socket; a constant is enough, because each socket has only one stream. */
const streamId = 'text'

export async function synthesize(options: LiveTtsOptions, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const format = spokenFormat(request.outputFormat)
  const frames = speechFrames(request, format, streamId)
  const socket = await options.sockets.open(options.apiKey, { path: '/tts-websocket' }, signal)
  const audio = receiveSpeech(socket, options, streamProtocol(options.apiKey), signal)
  for (const frame of frames) socket.send(JSON.stringify(frame))
  return { format, audio }
}

function streamProtocol(apiKey: string | null): LiveTtsProtocol {
  let isDone = false
  return {
    frame(frame, queue) {
      const { error_code: code, audio, audio_end: isWhole, terminated } = frame
      isDone = code !== undefined || isWhole === true || terminated === true
      if (code !== undefined) throw frameFailure(classOfFrame(frame), frame, apiKey)
      if (audio !== undefined) queue.push(samplesOf(audio))
      if (isWhole === true) queue.end()
      // The vendor sends `terminated` after our cancel message, and also if the vendor truncates the audio.
      else if (terminated === true) throw protocolError('terminated before audio_end')
    },
    // The message makes the vendor cancel the speech not generated yet.
    farewell: () => (isDone ? [] : [JSON.stringify({ stream_id: streamId, cancel: true })]),
    classOfClose: () => null,
  }
}
