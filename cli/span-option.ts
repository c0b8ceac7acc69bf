import { UsageError } from './command-error.ts'

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Reads a time span such as `90d`, `24h` or `30m`, in milliseconds. */
export function spanOf(option: string, text: string, daysMax: number): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const spanMs = Number(count) * (unitMs[unit as keyof typeof unitMs] ?? 0)
  if (spanMs > 0 && spanMs <= daysMax * unitMs.d) return spanMs
  throw new UsageError(`${option}: ${text} is no span of time up to ${daysMax} days; write 90d, 24h or 30m`)
}
