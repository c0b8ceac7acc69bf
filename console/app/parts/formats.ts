/** Writes numbers and lengths of time for people. zone.ts writes moments. */

const microUsdPerUsd = 1_000_000

/** Writes micro-USD in dollars. Small amounts keep enough digits to differ from 0. */
export function money(microUsd: string | null): string {
  if (microUsd === null) return '–'
  const dollars = Number(microUsd) / microUsdPerUsd
  const digits = dollars !== 0 && Math.abs(dollars) < 0.1 ? 4 : 2
  return `${dollars < 0 ? '-' : ''}$${Math.abs(dollars).toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** Writes a price in dollars. `usd` is null if the carrier names no price. */
export const price = (usd: number | null) => (usd === null ? 'not named' : `$${usd.toFixed(2)}`)

/** Writes seconds as 4:07 or 1:02:09. */
export function clockTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

export const milliseconds = (ms: number) => `${Math.round(ms).toLocaleString('en-US')} ms`

export const minutes = (value: number) =>
  `${value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 })} min`

export const count = (value: number) => value.toLocaleString('en-US')

/** Writes a count with its noun: `plural(2, 'call')` is `2 calls`. */
export const plural = (value: number, noun: string) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`

/**
 * Writes the time at a mark on a time axis. The marks are `stepS` seconds apart. If the step is below a second, the
 * time is rounded to tenths before it is divided, because the axis adds steps that are not exact.
 */
export function axisTime(seconds: number, stepS: number): string {
  if (stepS >= 1) return clockTime(seconds)
  const tenths = Math.round(seconds * 10)
  return `${clockTime(Math.floor(tenths / 10))}.${tenths % 10}`
}

/** Writes an enum's value for people: `no_answer` is `no answer`. */
export const words = (value: string) => value.replaceAll(/[_.]/g, ' ')
