/** The jobs for a process that synthesizes, and their results. */
import type { WordEnd } from '../../../domain/ports/tts.ts'

export type TtsInput = { text: string; voice: string; speed: number; sampleRateHz: number }
/** Mono s16le samples at the requested rate, and the words' end times. Both are empty if the text contains no words. */
export type TtsOutput = { samples: Uint8Array; ends: WordEnd[] }
