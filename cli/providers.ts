/** The command `providers check`. The other commands of `providers` are rows in operations.ts. */
import type { Command } from 'commander'
import type { ProviderCheck } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { print } from './print.ts'
import { milliseconds, oneLine } from './terminal.ts'

export function providers(program: Command, actions: Actions): void {
  program
    .command('providers')
    .description('provider keys of the organization')
    .command('check')
    .description('ask a provider whether it accepts the key; the exit code is 1 if the check fails')
    .argument('<provider>', 'such as openai')
    .option('--json', 'print the answer as JSON', false)
    .action(async (provider: string, { json }: { json: boolean }) => {
      const { body } = await platformClient(await actions.connection()).checkProvider({ path: { provider } })
      print(json, body, () => [`${oneLine(provider)}: ${sentenceOf(body)}`])
      if (!body.ok) process.exitCode = 1
    })
}

function sentenceOf({ message, providerStatus, durationMs }: ProviderCheck): string {
  const status = providerStatus === null ? '' : `HTTP status ${providerStatus}, `
  return `${oneLine(message)} (${status}after ${milliseconds(durationMs)})`
}
