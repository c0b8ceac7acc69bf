/** Transcribes recordings with POST /v1/speech-to-text. */
import type { Segment, SttOptions, SttRequest, Transcript, Word } from '../../domain/ports/stt.ts'
import { canonicalTag } from '../vendors/language-tags.ts'
import type { VendorHttp } from '../wire/http.ts'
import { type JsonObject, milliseconds, objectsOf, stringAt } from '../wire/json.ts'
import { type Field, recordingForm } from '../wire/recording.ts'
import { batchKeyterms, keyterms } from './keyterms.ts'

export async function transcribe(http: VendorHttp, request: SttRequest, signal: AbortSignal): Promise<Transcript> {
  const form = recordingForm(fields(request), request.recording)
  return readTranscript(await http.post('/v1/speech-to-text', form, signal), request)
}

function fields({ model, language, options }: SttRequest): Field[] {
  const list: [string, string][] = [['model_id', model]]
  if (language !== undefined) list.push(['language_code', language])
  if (options.diarization) list.push(['diarize', 'true'])
  for (const keyword of keyterms(options.keywords, batchKeyterms)) list.push(['keyterms', keyword])
  // Segments are built from words, so words are always requested.
  list.push(['timestamps_granularity', 'word'])
  return [...list, ...ownFields(options)]
}

/**
 * Returns the request's `providerOptions` as form fields. The vendor's default would add sounds to the text, such as
 * "(laughter)". Here this is off unless the request turns it on.
 */
function ownFields({ providerOptions = {} }: SttOptions): Field[] {
  const own = { tag_audio_events: false, ...providerOptions }
  return Object.entries(own).map(([name, value]) => [name, String(value)])
}

function readTranscript(body: JsonObject, { options, language, recording }: SttRequest): Transcript {
  const text = stringAt(body, 'text').trim()
  const tokens = timedTokens(body['words'])
  const segments = segmentsOf(tokens, options.diarization === true)
  const detected = canonicalTag(body['language_code']) ?? language
  const seconds = body['audio_duration_secs']
  return {
    text,
    // If the vendor sends no words, one segment covers the whole recording.
    segments: segments.length > 0 || text === '' ? segments : [{ text, startMs: 0, endMs: recording.durationMs }],
    ...(options.wordTimestamps && { words: wordsOf(body['words']) }),
    ...(detected !== undefined && { language: detected }),
    ...(typeof seconds === 'number' && seconds >= 0 && { billedMs: milliseconds(seconds) }),
  }
}

/** Returns the words in the token list, for recordings and live audio. Spaces and sounds are left out. */
export function wordsOf(given: unknown): Word[] {
  return timedTokens(given)
    .filter(({ isWord }) => isWord)
    .map(({ text, startMs, endMs, speaker, confidence }) => ({
      text: text.trim(),
      startMs,
      endMs,
      ...(speaker !== undefined && { speaker }),
      ...(confidence !== undefined && { confidence }),
    }))
}

type Token = Word & { isWord: boolean }

/**
 * Returns the tokens with times. Spaces are tokens too, if the language uses spaces. So joining a segment's tokens
 * without a separator gives its text.
 */
function timedTokens(given: unknown): Token[] {
  return objectsOf(given).flatMap(({ text, start, end, type, speaker_id: speaker, logprob }) => {
    if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number') return []
    return {
      text,
      startMs: milliseconds(start),
      endMs: milliseconds(end),
      isWord: type === undefined || type === 'word',
      ...(typeof speaker === 'string' && { speaker }),
      ...(typeof logprob === 'number' && { confidence: Math.min(1, Math.exp(logprob)) }),
    }
  })
}

/** Joins tokens into segments. A segment is a sentence by one speaker. */
function segmentsOf(tokens: readonly Token[], bySpeaker: boolean): Segment[] {
  const segments: Segment[] = []
  let open: Segment | null = null
  for (const token of tokens) {
    const speaker = bySpeaker ? token.speaker : undefined
    if (open && (open.speaker !== speaker || (token.text.trim() !== '' && sentenceEnd.test(open.text)))) open = null
    if (open) {
      open.text += token.text
      if (token.text.trim() !== '') open.endMs = token.endMs
    } else if (token.text.trim() !== '') {
      open = { text: token.text, startMs: token.startMs, endMs: token.endMs, ...(speaker !== undefined && { speaker }) }
      segments.push(open)
    }
  }
  return segments.map((segment) => ({ ...segment, text: segment.text.trim() }))
}

/** A full stop ends a sentence only before a space; otherwise `3.5` would be two sentences. */
const sentenceEnd = /[.!?…]\s+$|[。！？]\s*$/
