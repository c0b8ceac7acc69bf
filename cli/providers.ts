/** The command `providers check`. The other commands of `providers` are rows in operations.ts. */
import type { Command } from 'commander'
import type { ProviderCheck, ProviderCheckOutcome } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { platformClient } from './client.ts'
import { print } from './print.ts'
import { milliseconds, oneLine } from './terminal.ts'

export function providers(program: Command, actions: Actions): void {
  program
    .command('providers')
    .description('provider keys of the organization')
    .command('check')
    .description('ask a provider whether it accepts the key; the exit code is 1 if it does not')
    .argument('<provider>', 'such as openai')
    .option('--json', 'print the answer as JSON', false)
    .action(async (provider: string, { json }: { json: boolean }) => {
      const { body } = await platformClient(await actions.connection()).checkProvider({ path: { provider } })
      print(json, body, () => [`${oneLine(provider)} ${sentenceOf(body)}`])
      if (!body.ok) process.exitCode = 1
    })
}

function sentenceOf({ ok, outcome, providerStatus, durationMs }: ProviderCheck): string {
  const status = providerStatus === null ? '' : ` (HTTP status ${providerStatus})`
  const isLimited = ok && providerStatus !== null && providerStatus >= 400
  return `${isLimited ? limitedKey : words[outcome]}${status} after ${milliseconds(durationMs)}`
}

const limitedKey = 'knows the key, but the key may not send the request of the check'

const words: Readonly<Record<ProviderCheckOutcome, string>> = {
  succeeded: 'accepts the key',
  auth: 'refuses the key',
  quota: 'knows the key, but the account has no credit or no plan for it',
  rate_limited: 'takes no more requests now',
  overloaded: 'takes no more requests now, or the server has no free connection to it',
  timeout: 'does not answer',
  unreachable: 'cannot be reached from the server',
  server: 'failed',
  bad_request: 'does not have the request of the check in its API',
  protocol: 'answers, but not as its API does',
}
