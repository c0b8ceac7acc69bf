/**
 * WS /v1/text-to-speech/{voice}/stream-input. A socket serves one text, because the vendor closes it after the text.
 */
import { bytesPerMs, isSampleEncoding } from '../../audio/pcm.ts'
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
import { classOfCloseCode, frameFailure } from '../wire/failures.ts'
import { isObject } from '../wire/json.ts'
import { type LiveTtsOptions, type LiveTtsProtocol, receiveSpeech, samplesOf } from '../wire/live-tts.ts'
import type { WarmRules } from '../wire/socket.ts'
import { TextCursor } from '../wire/text-cursor.ts'
import { type Output, outputFor } from './output-format.ts'
import { languageCode, voicePath, voiceSettings } from './tts.ts'
import { classOfSocketCode } from './wire.ts'

/**
 * The vendor closes a socket after this time without text. The default, 20 s, is too short for a socket opened in
 * advance.
 */
const inactivityS = 60

/** The vendor bills text, so an idle socket costs nothing. */
export const warmTts: WarmRules = { keepAlive: null, idleMsMax: inactivityS * 1000 - 10_000 }

export async function speakLive(options: LiveTtsOptions, request: TtsRequest, signal: AbortSignal): Promise<Speech> {
  const output = outputFor(request.outputFormat)
  const messages = messagesOf(request)
  const socket = await options.sockets.open(options.apiKey, { path: livePath(request, output) }, signal)
  const audio = receiveSpeech(socket, options, streamInputProtocol(options.apiKey, request, output), signal)
  for (const message of messages) socket.send(JSON.stringify(message))
  return { format: output.format, audio }
}

function streamInputProtocol(apiKey: string | null, request: TtsRequest, output: Output): LiveTtsProtocol {
  const alignment = alignmentReader(request, output)
  return {
    frame(frame, queue) {
      const { error, audio, isFinal } = frame
      if (error !== undefined) throw frameFailure(classOfSocketCode(error), frame, apiKey)
      const samples = typeof audio === 'string' ? samplesOf(audio) : nothing
      alignment(frame['alignment'], samples.length)
      queue.push(samples)
      // If the account has no credit, `isFinal` is the first frame, without audio. The queue's reader reports speech
      // without audio as a failure.
      if (isFinal === true) queue.end()
    },
    classOfClose: classOfCloseCode,
  }
}

const nothing = Buffer.alloc(0)

/** Reads a frame's characters. Their times are ms from the start of the frame's audio. */
function alignmentReader({ text, onWordEnd }: TtsRequest, { format }: Output) {
  const { encoding, sampleRateHz, channels } = format
  const cursor = new TextCursor(text)
  let received = 0
  return (alignment: unknown, bytes: number): void => {
    if (!onWordEnd || !isSampleEncoding(encoding)) return
    const fromMs = received / bytesPerMs({ encoding, sampleRateHz, channels })
    received += bytes
    const { chars, charStartTimesMs: starts, charDurationsMs: durations } = isObject(alignment) ? alignment : {}
    if (!Array.isArray(chars) || !Array.isArray(starts) || !Array.isArray(durations)) return
    for (const [i, character] of chars.entries()) {
      const place = cursor.behind(String(character))
      const endMs = Number(starts[i]) + Number(durations[i])
      if (place !== null && Number.isFinite(endMs)) onWordEnd({ place, endMs: fromMs + endMs })
    }
  }
}

function livePath(request: TtsRequest, output: Output): string {
  const query = new URLSearchParams({
    model_id: request.model,
    output_format: output.name,
    inactivity_timeout: String(inactivityS),
    // The text is complete sentences, so the vendor can begin without waiting for more text.
    auto_mode: 'true',
  })
  // With this field each frame has its characters' times.
  if (request.onWordEnd) query.set('sync_alignment', 'true')
  const language = languageCode(request)
  if (language !== undefined) query.set('language_code', language)
  return `${voicePath(request)}/stream-input?${query.toString()}`
}

/**
 * The vendor's rules: the first message's text is a space, each text ends with a space, and an empty text ends the
 * stream.
 */
const messagesOf = (request: TtsRequest) => [
  { text: ' ', ...voiceSettings(request) },
  { text: `${request.text} `, flush: true },
  { text: '' },
]
