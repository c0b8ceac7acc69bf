import type { Command } from 'commander'
import type { Actions } from './actions.ts'

export function config(program: Command, actions: Actions): void {
  program
    .command('config')
    .description('the configuration')
    .command('check')
    .description('read parley.yaml and the environment, and print what is in force, secrets left out')
    .action(async () => {
      for (const line of await actions.configCheck()) console.log(line)
    })
}
