/** WS /v1/speech-to-text/realtime: how a session is asked for. */
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { SttStream, SttStreamRequest, SttStreamSink } from '../../domain/speech/stt.ts'
import type { SocketTransport, Standby } from '../wire/socket.ts'
import { keyterms, realtimeKeyterms } from './keyterms.ts'
import { type ScribeOptions, ScribeStream } from './stt-live-scribe.ts'

/** A session that hears nothing for about 10 s is ended by the vendor, and it takes nothing before the audio that would keep it. */
export const scribeStandby: Standby = { keepAlive: null, idleMsMax: 7000 }

/** Resolves when the vendor listens. */
export async function listen(
  sockets: SocketTransport,
  request: SttStreamRequest,
  sink: SttStreamSink,
  options: ScribeOptions,
  signal: CancelSignal,
): Promise<SttStream> {
  const socket = await sockets.open(options.apiKey, { path: realtimePath(request) }, signal)
  const stream = new ScribeStream(socket, request, sink, options, signal)
  await stream.opened
  return stream
}

function realtimePath({ model, audio, language, endpointingMs, words, keywords }: SttStreamRequest): string {
  const query = new URLSearchParams({
    model_id: model,
    audio_format: `${audio.encoding === 'mulaw' ? 'ulaw' : 'pcm'}_${audio.sampleRateHz}`,
    commit_strategy: 'vad',
    include_timestamps: String(words),
  })
  if (language !== undefined) query.set('language_code', language)
  // The language comes with the timestamps only.
  else if (words) query.set('include_language_detection', 'true')
  if (endpointingMs !== undefined) query.set('vad_silence_threshold_secs', String(silenceS(endpointingMs)))
  for (const keyword of keyterms(keywords, realtimeKeyterms)) query.append('keyterms', keyword)
  return `/v1/speech-to-text/realtime?${query.toString()}`
}

/** The vendor refuses less than 0.3 and more than 3 seconds. */
const silenceS = (ms: number) => Math.min(3, Math.max(0.3, ms / 1000))
