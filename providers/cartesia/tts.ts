/** Synthesizes speech with POST /tts/bytes: raw samples, streamed while the vendor generates them. */
import type { Speech, TtsRequest } from '../../domain/ports/tts.ts'
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
  const format = spokenFormat(request.outputFormat)
  const answer = await http.stream('/tts/bytes', json(speechBody(request, format)), audioBytesMax, signal)
  const [type = ''] = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')
  // The Content-Type does not show the sample format: the vendor's client accepts `audio/wav` for every format. So only
  // a type that cannot be samples, such as MP3, is refused.
  if (/^(audio\/(?!mpeg|mp3).*|application\/octet-stream|)$/.test(type.trim()))
    return { format, audio: audioOf(answer) }
  await discardAnswer(answer)
  throw protocolError(`Content-Type ${type.slice(0, 64)}`)
}
