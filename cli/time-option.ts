import { CommandError } from './command-error.ts'

/** The contract wants a time with a zone; a date alone begins at midnight UTC. */
export function timeOf(option: string, text: string): string {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw new CommandError(`${option}: ${text} is no time; write 2026-11-21T16:00:00Z`)
  return time.toISOString()
}
