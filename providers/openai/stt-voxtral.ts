/**
 * POST /audio/transcriptions as Mistral defines it. A request may ask for times or name the language. With both, the
 * server sometimes answered without any text. Times are in `segments`, for words too. The server refuses unknown
 * fields.
 */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttRequest, Transcript } from '../../domain/ports/stt.ts'
import { canonicalTag } from '../vendors/language-tags.ts'
import { isObject, type JsonObject, milliseconds, stringAt, timedObjectsOf, timesOf, trimmed } from '../wire/json.ts'
import type { Field } from '../wire/recording.ts'
import { segmentsOr, type Transcriptions, wordsOr } from './stt.ts'

export const voxtralTranscriptions: Transcriptions = { fields, read }

function fields({ model, language, options }: SttRequest): Field[] {
  const { wordTimestamps, diarization, keywords = [] } = options
  const needsTimes = wordTimestamps || diarization
  if (needsTimes && language !== undefined) throw unsupported('times of a language that is named')
  // The server returns speakers only with segments.
  if (wordTimestamps && diarization) throw unsupported('speakers of words')
  const list: Field[] = [['model', model]]
  if (diarization) list.push(['diarize', 'true'])
  for (const keyword of bias(keywords)) list.push(['context_bias', keyword])
  const base = language?.split('-')[0]
  list.push(base === undefined ? ['timestamp_granularities', wordTimestamps ? 'word' : 'segment'] : ['language', base])
  return list
}

const keywordsMax = 100

/** Returns the keywords in the server's form. The server accepts only single words, so a phrase's words are joined. */
function bias(keywords: readonly string[]): string[] {
  if (keywords.length > keywordsMax) throw unsupported('more keywords than it takes')
  return keywords.map((keyword) => keyword.trim().replace(/[\s,]+/g, '_')).filter((keyword) => keyword !== '')
}

function read(body: JsonObject, request: SttRequest): Transcript {
  const text = stringAt(body, 'text').trim()
  const language = canonicalTag(body['language']) ?? request.language
  const list = timedObjectsOf(body['segments']).map(({ text, speaker_id: speaker, ...row }) => ({
    text: trimmed(text),
    ...timesOf(row),
    ...(typeof speaker === 'string' && { speaker }),
  }))
  const { wordTimestamps } = request.options
  return {
    text,
    segments: segmentsOr(wordTimestamps ? [] : list, text, request),
    ...(wordTimestamps && { words: wordsOr(list, text) }),
    ...(language !== undefined && { language }),
    ...billed(body['usage']),
  }
}

function billed(usage: unknown): { billedMs: number } | undefined {
  if (!isObject(usage) || !Number.isFinite(usage['prompt_audio_seconds'])) return undefined
  return { billedMs: milliseconds(usage['prompt_audio_seconds']) }
}

const unsupported = (cause: string) => new ProviderError('unsupported', { sent: false, cause })
