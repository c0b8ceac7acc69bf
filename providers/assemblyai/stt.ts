/**
 * Transcribes a recording in four steps: upload it, start a transcript, poll the transcript's id until the text is
 * complete, delete the transcript. All steps share one deadline, except the deletion: it continues after the transcript
 * was returned.
 */
import type { Recording } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Segment, Stt, SttRequest, Transcript, Word } from '../../domain/ports/stt.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { detectedLanguage, vendorTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { json, type Payload, type VendorHttp } from '../wire/http.ts'
import { type JsonObject, stringAt, stringOf, timedObjectsOf } from '../wire/json.ts'
import { recordingFile } from '../wire/recording.ts'
import type { Removals } from './removals.ts'

/** A short recording is transcribed within a second. For long recordings the polls become less frequent. */
const firstPollMs = 200
const pollGrowth = 1.5
const pollMsMax = 3000

export type SttParts = { http: VendorHttp; clock: Clock; totalMs: number; removals: Removals }

export function createStt(parts: SttParts): Pick<Stt, 'transcribe'> {
  const { http, clock, totalMs, removals } = parts
  return {
    async transcribe(request, signal) {
      const deadlineMs = clock.monotonicMs() + totalMs
      const upload = await http.post('/v2/upload', octets(request.recording), signal)
      const ordered = await http.post('/v2/transcript', json(order(request, stringAt(upload, 'upload_url'))), signal)
      const id = stringAt(ordered, 'id')
      try {
        return readTranscript(await completed(parts, ordered, deadlineMs, signal), request)
      } finally {
        removals.remove(http, pathOf(id))
      }
    },
  }
}

const octets = (recording: Recording): Payload => ({
  contentType: 'application/octet-stream',
  body: recordingFile(recording).chunks,
})

function order({ model, language, options }: SttRequest, audioUrl: string): JsonObject {
  return {
    audio_url: audioUrl,
    speech_models: [model],
    ...(language === undefined ? { language_detection: true } : { language_code: vendorTag('assemblyai', language) }),
    ...(options.diarization && { speaker_labels: true }),
    ...(options.keywords?.length && { keyterms_prompt: options.keywords }),
    ...(options.prompt !== undefined && { prompt: options.prompt }),
    ...options.providerOptions,
  }
}

const pathOf = (id: string) => `/v2/transcript/${encodeURIComponent(id)}`

async function completed(
  { http, clock }: SttParts,
  ordered: JsonObject,
  deadlineMs: number,
  signal: CancelSignal,
): Promise<JsonObject> {
  const path = pathOf(stringAt(ordered, 'id'))
  let answer = ordered
  for (let delayMs = firstPollMs; !isCompleted(answer); delayMs = Math.min(delayMs * pollGrowth, pollMsMax)) {
    if (clock.monotonicMs() + delayMs > deadlineMs) throw new ProviderError('timeout', { sent: true })
    await pause(clock, delayMs, signal)
    answer = await http.get(path, signal)
  }
  return answer
}

/**
 * Returns true if the transcript is complete. The vendor reports a failure only as a sentence, without a code. So each
 * failure counts as the vendor's, and another provider may serve the request.
 */
function isCompleted({ status }: JsonObject): boolean {
  if (status === 'error')
    throw new ProviderError('server', { sent: true, cause: 'the transcript ended with status error' })
  if (status !== 'queued' && status !== 'processing' && status !== 'completed') throw protocolError('no status')
  return status === 'completed'
}

function pause(clock: Clock, delayMs: number, signal: CancelSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      cancel()
      reject(new ProviderError('cancelled', { sent: true, cause: signal.reason }))
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
}

function readTranscript(body: JsonObject, { recording, options }: SttRequest): Transcript {
  const text = stringAt(body, 'text').trim()
  const words = wordsIn(body['words'])
  const { language_code: code, audio_duration: durationS } = body
  return {
    text,
    segments: text === '' ? [] : segmentsOf(body['utterances'], text, words, recording.durationMs),
    ...(options.wordTimestamps && { words }),
    ...detectedLanguage(code),
    ...(typeof durationS === 'number' && { billedMs: Math.round(durationS * 1000) }),
  }
}

/**
 * Reads the segments. The vendor sends utterances only if speakers were requested. Without utterances one segment
 * covers the whole speech.
 */
function segmentsOf(utterances: unknown, text: string, words: readonly Word[], durationMs: number): Segment[] {
  const segments = timedObjectsOf(utterances).map(timesAndText)
  if (segments.length > 0) return segments
  return [{ text, startMs: words[0]?.startMs ?? 0, endMs: words.at(-1)?.endMs ?? durationMs }]
}

function wordsIn(words: unknown): Word[] {
  return timedObjectsOf(words).map((word) => {
    const { confidence } = word
    return { ...timesAndText(word), ...(typeof confidence === 'number' && { confidence }) }
  })
}

/** Reads a segment. The vendor's times are milliseconds. */
function timesAndText({ text, start, end, speaker }: JsonObject): Segment {
  return {
    text: stringOf(text),
    startMs: start as number,
    endMs: end as number,
    ...(typeof speaker === 'string' && { speaker }),
  }
}
