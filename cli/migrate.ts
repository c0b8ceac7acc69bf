import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { print } from './print.ts'

export function migrate(program: Command, actions: Actions): void {
  program
    .command('migrate')
    .description('make the database where it is missing, and bring its schema up to this version; `up` does so too')
    .option('--json', 'print the result as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const done = await actions.migrate()
      print(json, done, () => [`the database has schema ${done.schema}, which this version needs`])
    })
}
