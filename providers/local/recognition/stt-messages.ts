/** The jobs for a process that recognizes recordings, and their results. */
import type { AudioFormat } from '../../../audio/format.ts'

/** `language` is the requested base language, or null if the model finds the language. */
export type SttInput = { format: AudioFormat; durationMs: number; language: string | null }
/**
 * Asks where in `alignText` the recorded speech ends. The parent sends the audio in pieces, as it does for SttInput.
 * The speech has the words from `alignText` and may be cut at any position.
 */
export type AlignInput = { format: AudioFormat; durationMs: number; alignText: string }
/** The position in `alignText` where the recorded speech ends, as `Aligner` defines it. */
export type AlignOutput = { place: number }
export type SttOutput = { segments: { text: string; language: string; startMs: number; endMs: number }[] }
