/**
 * Subtitles in OpenAI's form: SubRip, which has no specification, and WebVTT (w3.org/TR/webvtt1). A cue is an optional
 * number, a line with two times, the text, and an empty line.
 */
import type { Transcript } from '../../../domain/ports/stt.ts'

export type Cue = { startMs: number; endMs: number; text: string }

/**
 * Returns one cue for each word if word timings were requested and are available, else for each segment. A transcript
 * without times is one cue.
 */
export function cuesOf({ text, segments, words }: Transcript, durationMs: number, isOfWords: boolean): Cue[] {
  const timed: readonly Cue[] = isOfWords && words?.length ? words : segments
  const cues = timed.length > 0 ? timed : [{ startMs: 0, endMs: durationMs, text }]
  return cues.filter((cue) => cue.text.trim() !== '')
}

export function srtOf(cues: readonly Cue[]): string {
  return cues.map((cue, index) => `${index + 1}\n${timesOf(cue, ',')}\n${lineOf(cue)}\n\n`).join('')
}

export function vttOf(cues: readonly Cue[]): string {
  return `WEBVTT\n\n${cues.map((cue) => `${timesOf(cue, '.')}\n${escaped(lineOf(cue))}\n\n`).join('')}`
}

function timesOf({ startMs, endMs }: Cue, point: ',' | '.'): string {
  return `${timeOf(startMs, point)} --> ${timeOf(Math.max(startMs, endMs), point)}`
}

/** Returns the time in the form `00:01:02.345`. */
function timeOf(timeMs: number, point: ',' | '.'): string {
  const ms = Math.max(0, Math.round(timeMs))
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${parts.map((part) => String(part).padStart(2, '0')).join(':')}${point}${String(ms % 1000).padStart(3, '0')}`
}

/** Returns the text in one line. An empty line would end the cue, and an arrow would be read as its times. */
function lineOf({ text }: Cue): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('-->', '->')
}

/** Escapes & and <, because in WebVTT they begin a character reference and a tag. */
function escaped(line: string): string {
  return line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
