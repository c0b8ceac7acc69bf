import type { Command } from 'commander'
import type { CreditMovement } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { dollarsOf } from './dollars.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'

type Options = { org?: string; limit: number; cursor?: string; json: boolean }

/** The `--org` help for commands that also work with an API key, which names an organization as well. */
export const ofWhom =
  'name or id of the organization, read from the database; without it that of PARLEY_API_KEY, or of the local key'

export function credits(program: Command, actions: Actions): void {
  program
    .command('credits')
    .description('the credit of an organization and all that has changed it, newest first')
    .option('--org <organization>', ofWhom)
    .option('--limit <count>', 'the most that one page has, 1 to 100', wholeNumber('--limit', 1, 100), 25)
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, org, limit, ...rest }: Options) => {
      const query = { ...rest, limit }
      const body =
        org === undefined
          ? (await platformClient(await actions.connection()).getCredits({ query })).body
          : await actions.admin((admin) => admin.credits(org, query))
      const { creditMicroUsd, reservedMicroUsd, movements, nextCursor } = body
      const reserved = reservedMicroUsd === '0' ? '' : `, and ${dollarsOf(reservedMicroUsd)} reserved`
      print(json, body, () => [
        `credit ${dollarsOf(creditMicroUsd)}${reserved}`,
        ...(movements.length > 0 ? ['', ...table([heading, ...movements.map(rowOf)])] : []),
        ...(nextCursor === null ? [] : ['', `more: --cursor ${nextCursor}`]),
      ])
    })
}

const heading = ['at', 'kind', 'amount', 'of']

function rowOf({ createdAt, kind, microUsd, phoneNumberId, day }: CreditMovement): string[] {
  return [createdAt.slice(0, 19).replace('T', ' '), kind, dollarsOf(microUsd), phoneNumberId ?? day ?? '–']
}
