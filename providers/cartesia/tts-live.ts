/**
 * WS /tts/websocket: each text is a "context", and its audio arrives as base64 up to `done`. The vendor allows several
 * contexts on a socket. Here each socket serves one text, so a failure affects only one text, and the next text uses a
 * socket opened in advance.
 */
import { randomUUID } from 'node:crypto'
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
import { classOfCloseCode, frameFailure } from '../wire/failures.ts'
import { isObject } from '../wire/json.ts'
import { type LiveTtsOptions, type LiveTtsProtocol, receiveSpeech, samplesOf } from '../wire/live-tts.ts'
import type { WarmRules } from '../wire/socket.ts'
import { TextCursor } from '../wire/text-cursor.ts'
import { speechBody, spokenFormat } from './tts-fields.ts'
import { classOfFrame } from './wire.ts'

/**
 * The vendor bills speech and limits contexts. An idle socket costs nothing and has no context. In tests, idle sockets
 * were closed after 120 s.
 */
export const warmTts: WarmRules = { keepAlive: null, idleMsMax: 100_000 }

export async function speakLive(options: LiveTtsOptions, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const format = spokenFormat(request.outputFormat)
  // The id is unique within the whole account, because contexts are counted per account.
  const contextId = randomUUID()
  const text = JSON.stringify({
    ...speechBody(request, format),
    context_id: contextId,
    continue: false,
    ...(request.onWordEnd && { add_timestamps: true }),
  })
  const socket = await options.sockets.open(options.apiKey, { path: '/tts/websocket' }, signal)
  const audio = receiveSpeech(socket, options, contextProtocol(contextId, options.apiKey, request), signal)
  socket.send(text)
  return { format, audio }
}

function contextProtocol(contextId: string, apiKey: string | null, request: TtsRequest): LiveTtsProtocol {
  const words = wordReader(request)
  let isDone = false
  return {
    frame(frame, queue) {
      isDone = frame['type'] === 'done' || frame['type'] === 'error'
      if (frame['type'] === 'error') throw frameFailure(classOfFrame(frame), frame, apiKey)
      if (frame['type'] === 'timestamps') words(frame['word_timestamps'])
      if (frame['type'] === 'chunk') queue.push(samplesOf(frame['data']))
      if (isDone) queue.end()
    },
    // The message makes the vendor cancel the speech not generated yet.
    farewell: () => (isDone ? [] : [JSON.stringify({ context_id: contextId, cancel: true })]),
    classOfClose: classOfCloseCode,
  }
}

/** Reads a frame's words. Their times are seconds from the context's start. */
function wordReader({ text, onWordEnd }: TtsRequest): (timestamps: unknown) => void {
  const cursor = new TextCursor(text)
  return (timestamps) => {
    const { words, end } = isObject(timestamps) ? timestamps : {}
    if (!onWordEnd || !Array.isArray(words) || !Array.isArray(end)) return
    for (const [i, word] of words.entries()) {
      const endS: unknown = end[i]
      const place = cursor.behind(String(word))
      if (place !== null && typeof endS === 'number') onWordEnd({ place, endMs: endS * 1000 })
    }
  }
}
