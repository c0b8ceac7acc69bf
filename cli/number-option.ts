import { UsageError } from './command-error.ts'
import { oneLine } from './terminal.ts'

/** Returns a parser for an option with a whole number from `least` to `most`. It throws UsageError for other texts. */
export function wholeNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => numberIn(text, /^\d+$/, least, most, `${option} takes a whole number`)
}

/** Returns a parser like `wholeNumber`, for numbers with or without decimals. */
export function decimalNumber(option: string, least: number, most: number): (text: string) => number {
  return (text) => numberIn(text, /^\d+(\.\d+)?$/, least, most, `${option} takes a number`)
}

function numberIn(text: string, form: RegExp, least: number, most: number, rule: string): number {
  if (form.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw new UsageError(`${rule} from ${least} to ${most}, not ${oneLine(text)}`)
}
