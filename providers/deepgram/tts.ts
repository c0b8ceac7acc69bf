/** Synthesizes speech with POST /v1/speak. The audio is streamed while the vendor generates it. */
import type { Speech, Tts, TtsRequest } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { audioOf, discardAnswer, readWav } from '../wire/audio-answer.ts'
import { protocolError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { type SpokenFormat, speechQuery, spokenFormat } from './tts-fields.ts'

/** Opus in Ogg is always decoded at 48 kHz (RFC 7845). */
const oggOpus: SpokenFormat = { encoding: 'opus', sampleRateHz: 48_000, channels: 1 }

export function createSynthesize(http: VendorHttp, audioBytesMax: number): Tts['synthesize'] {
  return async (request, signal) => {
    const format = request.outputFormat.encoding === 'opus' ? oggOpus : spokenFormat(request.outputFormat)
    const path = `/v1/speak?${query(request, format)}`
    return readSpeech(await http.stream(path, json({ text: request.text }), audioBytesMax, signal), format)
  }
}

/** Returns the query. Without `container=none` the vendor would send the samples in a WAV. */
function query(request: TtsRequest, format: SpokenFormat): string {
  const list = speechQuery(request, format)
  list.set('container', format.encoding === 'opus' ? 'ogg' : 'none')
  return list.toString()
}

async function readSpeech(answer: StreamedAnswer, format: SpokenFormat): Promise<Speech> {
  const [type = ''] = (answer.headers.get('content-type') ?? '').toLowerCase().split(';')
  switch (type.trim()) {
    case 'audio/wav':
    case 'audio/x-wav':
      return readWav(answer)
    case `audio/${mediaTypes[format.encoding]}`:
    case 'application/octet-stream':
    case '':
      return { format, audio: audioOf(answer) }
  }
  await discardAnswer(answer)
  throw protocolError(`Content-Type ${type.slice(0, 64)}`)
}

const mediaTypes: Record<SpokenFormat['encoding'], string> = {
  pcm_s16le: 'l16',
  mulaw: 'mulaw',
  alaw: 'alaw',
  opus: 'ogg',
}
