/**
 * WS /tts/websocket: a text is a context, and its audio comes in base64 up to `done`. The vendor would take more
 * contexts afterwards. Here a socket serves one text, so a failure costs only one text, and the next text finds a warm
 * socket.
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
 * Speech is billed, and contexts count against the plan's limit. An idle socket uses neither. In tests, idle sockets
 * were closed after 120 s.
 */
export const warmTts: WarmRules = { keepAlive: null, idleMsMax: 100_000 }

export async function speakLive(options: LiveTtsOptions, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const format = spokenFormat(request.outputFormat)
  // Unique in the account, because the account's plan counts contexts.
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
    // Cancels speech that is not generated yet.
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
