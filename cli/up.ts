/** `parley up`: starts the server in this terminal, and lets a simulated person call if asked to. */
import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { simulateInbound } from './simulate-inbound.ts'

export function up(program: Command, actions: Actions): void {
  program
    .command('up')
    .description('start Parley in this terminal; Ctrl-C drains and ends it')
    .option('--simulate-inbound [line...]', 'then a simulated person calls, says these lines, and the call is shown')
    .action(({ simulateInbound: lines }: { simulateInbound?: true | string[] }) =>
      actions.up((connection) => {
        if (lines !== undefined) void simulateInbound(connection, lines === true ? [] : lines)
      }),
    )
}
