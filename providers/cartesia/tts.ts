/** POST /tts/bytes: raw samples as they are made. */
import type { Speech, TtsRequest } from '../../domain/speech/tts.ts'
import { audioOf, discardAnswer } from '../wire/audio-answer.ts'
import { protocolError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { speechBody, spokenFormat } from './tts-fields.ts'

export async function synthesize(
  http: VendorHttp,
  request: TtsRequest,
  audioBytesMax: number,
  signal: AbortSignal,
): Promise<Speech> {
  const format = spokenFormat(request.wanted)
  const answer = await http.stream('/tts/bytes', json(speechBody(request, format)), audioBytesMax, signal)
  const [type = ''] = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')
  // The vendor's own client accepts `audio/wav` whatever it asks for, so the type tells no format; only what cannot be samples is refused.
  if (/^(audio\/(?!mpeg|mp3).*|application\/octet-stream|)$/.test(type.trim()))
    return { format, audio: audioOf(answer) }
  await discardAnswer(answer)
  throw protocolError(`Content-Type ${type.slice(0, 64)}`)
}
