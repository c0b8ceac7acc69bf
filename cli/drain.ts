import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'

export function drain(program: Command, actions: Actions): void {
  program
    .command('drain')
    .description('let the running Parley finish what it serves, and end it')
    .option('--json', 'print the result as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const pid = await withProgress('draining', () => actions.drain())
      if (pid === null) throw new CommandError('no Parley is running on this data folder')
      print(json, { pid }, () => [`process ${pid} has ended`])
    })
}
