/** The commands that act on the whole database. */
import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { print } from './print.ts'

type Options = { json: boolean }

export function database(program: Command, actions: Actions): void {
  program
    .command('migrate')
    .description('make the database where it is missing, and bring its schema up to this version; `up` does so too')
    .option('--json', 'print the result as JSON', false)
    .action(async ({ json }: Options) => {
      const done = await actions.migrate()
      print(json, done, () => [`the database has schema ${done.schema}, which this version needs`])
    })
  program
    .command('backup')
    .description('write everything in the database into a file, also while Parley serves')
    .argument('<file>', 'a file that exists is replaced when the new one is whole')
    .option('--json', 'print the result as JSON', false)
    .action(async (file: string, { json }: Options) => {
      const done = await actions.backup(file)
      print(json, done, () => [
        `${file} holds ${done.rows} rows of ${done.tables} tables, schema ${done.schema}`,
        'it does not hold the recordings and the master key, without which no provider key can be read: keep those too',
      ])
    })
  program
    .command('restore')
    .description('read a backup into an empty database, and bring its schema up to this version')
    .argument('<file>', 'a file that `parley backup` has written')
    .option('--json', 'print the result as JSON', false)
    .action(async (file: string, { json }: Options) => {
      const done = await actions.restore(file)
      print(json, done, () => [
        `restored ${done.rows} rows of ${done.tables} tables, as they were at ${done.createdAt}`,
        'copy the recordings, and set PARLEY_MASTER_KEY to the key of the installation that was backed up',
      ])
    })
}
