import type { Call } from '../generated/platform/types.ts'

/**
 * Control characters (C0, DEL and C1), because a terminal obeys them. A caller's words must not move its cursor or set
 * its title.
 */
const controls = /\p{Cc}+/gu

/** Puts a text on one line, without terminal control characters. */
export function oneLine(text: string): string {
  return text.replace(controls, ' ').trim()
}

export function milliseconds(ms: number | null): string {
  return ms === null ? '–' : `${ms.toFixed(0)} ms`
}

export function dollars(microUsd: string | number | null): string {
  return microUsd === null ? 'not known' : `$${(Number(microUsd) / 1_000_000).toFixed(6)}`
}

/** Returns the time since the call was connected, such as `1:03.2`. */
export function sinceStart({ started_at: startedAt }: Pick<Call, 'started_at'>, at: string): string {
  const ms = Math.max(0, Date.parse(at) - Date.parse(startedAt ?? at))
  const seconds = (ms % 60_000) / 1000
  return `${Math.floor(ms / 60_000)}:${seconds.toFixed(1).padStart(4, '0')}`
}
