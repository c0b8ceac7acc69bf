/** Writes events for OpenAI's realtime transcription, as its published clients declare them. */
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import { docUrl } from '../../runtime/http/doc-url.ts'
import type { TranscriptionSettings } from './transcription-settings.ts'

export const transcription = 'conversation.item.input_audio_transcription'

/** Writes the session with its current settings. */
export function sessionOf(id: string, { audio, turns, ...settings }: TranscriptionSettings) {
  const { model, language, prompt, keywords } = settings
  return {
    type: 'transcription' as const,
    object: 'realtime.transcription_session',
    id,
    // Null, because a session ends only with its socket.
    expires_at: null,
    include: null,
    audio: {
      input: {
        format: formatOf(audio),
        transcription: {
          model: model ?? 'auto',
          ...(language && { language }),
          ...(prompt && { prompt }),
          ...(keywords && { keywords: [...keywords] }),
        },
        noise_reduction: null,
        turn_detection: turns === null ? null : { type: 'server_vad' as const, silence_duration_ms: turns.silenceMs },
      },
    },
  }
}

function formatOf({ encoding, sampleRateHz }: TranscriptionSettings['audio']) {
  if (encoding === 'pcm_s16le') return { type: 'audio/pcm', rate: sampleRateHz } as const
  return { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' } as const
}

/** A client's mistake. `eventId` is the client's id for the refused event. */
export type Mistake = { code: string; message: string; param?: string; eventId?: string | undefined }

export function mistakeEvent({ code, message, param = '', eventId }: Mistake) {
  return {
    type: 'error',
    error: { type: 'invalid_request_error', code, message, param: param || null, event_id: eventId ?? null },
  }
}

export function failureOf(code: RealtimeErrorCode, message?: string) {
  const row = realtimeErrors[code]
  const type = row.closeCode === 1008 ? 'invalid_request_error' : 'server_error'
  const page = docUrl('realtime', code)
  return { type, code, message: message ?? row.message, param: null, event_id: null, doc_url: page }
}

export function itemOf(id: string) {
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_audio', transcript: null }],
  }
}
