import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'

/** The longest wait for an answer. It is below the time-out of the image's health check, 3 s. */
const answerMs = 2_000

export function ping(program: Command, actions: Actions): void {
  program
    .command('ping')
    .description(
      'whether the Parley of this data folder answers, or if the folder has none, the one at the configured address; the exit code is 1 if it does not',
    )
    .option('--json', 'print the result as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { baseUrl } = await actions.connection()
      const status = await statusOf(baseUrl)
      if (status !== 200) throw new CommandError(`the server at ${baseUrl} answers with ${status}`)
      print(json, { url: baseUrl }, () => [`${baseUrl} answers`])
    })
}

async function statusOf(baseUrl: string): Promise<number> {
  try {
    const { status } = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(answerMs) })
    return status
  } catch (cause) {
    throw new CommandError(`${baseUrl} does not answer`, { cause })
  }
}
