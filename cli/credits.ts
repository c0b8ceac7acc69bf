import type { Command } from 'commander'
import type { CreditMovement } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { dollarsOf } from './dollars.ts'
import { print } from './print.ts'

type Options = { limit: string; cursor?: string; json: boolean }

export function credits(program: Command, actions: Actions): void {
  program
    .command('credits')
    .description('the credit of your organization and all that has changed it, newest first')
    .option('--limit <count>', 'the most that one page has, 1 to 100', '25')
    .option('--cursor <cursor>', 'the next page, as the page before names it')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, limit, ...rest }: Options) => {
      const query = { ...rest, limit: Number(limit) }
      const { body } = await platformClient(await actions.connection()).getCredits({ query })
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
