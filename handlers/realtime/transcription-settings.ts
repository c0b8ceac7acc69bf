import type { StreamAudio } from '../../domain/ports/stt.ts'
import type {
  OlderTranscriptionSession,
  TranscriptionOptions,
  TranscriptionSession,
  TurnDetection,
} from '../../generated/realtime/types.ts'

/** Audio as samples. Opus is excluded, because OpenAI's protocol has no frames for Opus packets. */
type SampleAudio = StreamAudio & { encoding: Exclude<StreamAudio['encoding'], 'opus'> }

/** The settings that a client can change with a session update in OpenAI's protocol. */
export type TranscriptionSettings = {
  audio: SampleAudio
  model?: string
  language?: string
  prompt?: string
  keywords?: readonly string[]
  /** Turn detection. Null if only the client's commit ends an utterance, and silence does not. */
  turns: { silenceMs: number } | null
}

/** The default for turn detection in OpenAI's protocol. */
const defaultTurns = { silenceMs: 500 }

export const defaultSettings: TranscriptionSettings = {
  audio: { encoding: 'pcm_s16le', sampleRateHz: 24000, channels: 1 },
  turns: defaultTurns,
}

const formats = { 'audio/pcm': 'pcm_s16le', 'audio/pcmu': 'mulaw', 'audio/pcma': 'alaw' } as const
const olderFormats = { pcm16: 'audio/pcm', g711_ulaw: 'audio/pcmu', g711_alaw: 'audio/pcma' } as const

/** Returns the settings after an update. If the update leaves out a field, the field keeps its value. */
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

/** Returns true if a stream opened for `a` can also serve `b`. */
export function isSame(a: TranscriptionSettings, b: TranscriptionSettings): boolean {
  return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b))
}

const ordered = ({ audio, turns, ...options }: TranscriptionSettings) => {
  const { encoding, sampleRateHz } = audio
  const { model, language, prompt, keywords } = options
  return [encoding, sampleRateHz, turns?.silenceMs ?? null, model, language, prompt, keywords]
}

function audioOf(type: keyof typeof formats, rateHz: number | undefined): SampleAudio {
  return { encoding: formats[type], sampleRateHz: type === 'audio/pcm' ? (rateHz ?? 24000) : 8000, channels: 1 }
}

/** Reads the transcription options. Null or an empty value unsets a field, as published clients send it. */
function withOptions(
  settings: TranscriptionSettings,
  options: TranscriptionOptions | null | undefined,
): TranscriptionSettings {
  if (!options) return settings
  const { audio, turns, ...previous } = settings
  const { model = previous.model, prompt = previous.prompt, keywords = previous.keywords } = options
  const language = languageOf(options, previous.language)
  return {
    audio,
    turns,
    ...(model && { model }),
    ...(language && { language }),
    ...(prompt && { prompt }),
    ...(keywords?.length && { keywords }),
  }
}

/**
 * Returns the language. With several `languages` it is undefined, because the provider detects the spoken language.
 */
function languageOf({ language, languages }: TranscriptionOptions, previous: string | undefined) {
  if (languages) return languages.length === 1 ? languages[0] : undefined
  return language === undefined ? previous : language
}

function turnsOf(
  settings: TranscriptionSettings,
  detection: TurnDetection | null | undefined,
): TranscriptionSettings['turns'] {
  if (detection === undefined) return settings.turns
  if (detection === null) return null
  const silenceMs = detection.silence_duration_ms ?? settings.turns?.silenceMs ?? defaultTurns.silenceMs
  return { silenceMs }
}
