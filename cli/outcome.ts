/** Exit codes: 0, 1 for a failure, 2 for an invalid command line. */
import { CommanderError } from 'commander'
import { explain } from './client.ts'
import { UsageError } from './command-error.ts'

/** Returns the exit code and the message for an error. `words` is null if Commander has printed them already. */
export function outcomeOf(error: unknown): { code: number; words: string | null } {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : usageCode, words: null }
  if (error instanceof UsageError) return { code: usageCode, words: `parley: ${error.message}` }
  return { code: 1, words: `parley: ${explain(error)}` }
}

const usageCode = 2
