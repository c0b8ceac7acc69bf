import { UsageError } from './command-error.ts'
import { oneLine } from './terminal.ts'

/** Returns a parser for an option with a whole number from `least` to `most`. It throws UsageError for other texts. */
export function wholeNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => {
    if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
    throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not ${oneLine(text)}`)
  }
}
