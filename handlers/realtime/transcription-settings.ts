import type { StreamAudio } from '../../domain/speech/stt.ts'
import type {
  OlderTranscriptionSession,
  TranscriptionOptions,
  TranscriptionSession,
  TurnDetection,
} from '../../generated/realtime/types.ts'

/** The protocol has no packets, so no Opus. */
type SampleAudio = StreamAudio & { encoding: Exclude<StreamAudio['encoding'], 'opus'> }

/** The settings that a session update of OpenAI's protocol sets. */
export type TranscriptionSettings = {
  audio: SampleAudio
  model?: string
  language?: string
  prompt?: string
  keywords?: readonly string[]
  /** Null: the client commits, and silence does not end an utterance. */
  turns: { silenceMs?: number } | null
}

export const defaultSettings: TranscriptionSettings = {
  audio: { encoding: 'pcm_s16le', sampleRateHz: 24000, channels: 1 },
  turns: {},
}

const formats = { 'audio/pcm': 'pcm_s16le', 'audio/pcmu': 'mulaw', 'audio/pcma': 'alaw' } as const
const olderFormats = { pcm16: 'audio/pcm', g711_ulaw: 'audio/pcmu', g711_alaw: 'audio/pcma' } as const

/** A field that the update leaves out keeps its value. */
export function updated(settings: TranscriptionSettings, session: TranscriptionSession): TranscriptionSettings {
  const input = session.audio?.input
  const format = input?.format
  return {
    ...withOptions(settings, input?.transcription),
    audio: format?.type ? audioOf(format.type, format.rate) : settings.audio,
    turns: turnsOf(settings, input?.turn_detection),
  }
}

export function updatedOlder(
  settings: TranscriptionSettings,
  session: OlderTranscriptionSession,
): TranscriptionSettings {
  const format = session.input_audio_format
  return {
    ...withOptions(settings, session.input_audio_transcription),
    audio: format ? audioOf(olderFormats[format], undefined) : settings.audio,
    turns: turnsOf(settings, session.turn_detection),
  }
}

function audioOf(type: keyof typeof formats, rateHz: number | undefined): SampleAudio {
  return { encoding: formats[type], sampleRateHz: type === 'audio/pcm' ? (rateHz ?? 24000) : 8000, channels: 1 }
}

/** Clients send null to unset a field. */
function withOptions(
  settings: TranscriptionSettings,
  options: TranscriptionOptions | undefined,
): TranscriptionSettings {
  if (!options) return settings
  const { model, language, prompt, keywords } = options
  return {
    audio: settings.audio,
    turns: settings.turns,
    ...(model && { model }),
    ...(language && { language }),
    ...(prompt && { prompt }),
    ...(keywords?.length && { keywords }),
  }
}

function turnsOf(
  settings: TranscriptionSettings,
  detection: TurnDetection | undefined,
): TranscriptionSettings['turns'] {
  if (detection === undefined) return settings.turns
  if (detection === null) return null
  const silenceMs = detection.silence_duration_ms
  return silenceMs === undefined ? {} : { silenceMs }
}
