import { Command } from 'commander'
import type { Actions } from './actions.ts'
import { agents } from './agents.ts'
import { bundle } from './bundle.ts'
import { callbacks } from './callbacks.ts'
import { calls } from './calls.ts'
import { conform } from './conform.ts'
import { demo } from './demo.ts'
import { dial } from './dial.ts'
import { examples } from './examples.ts'
import { lastCommands } from './last-commands.ts'
import { numberCommands } from './number-commands.ts'
import { organizationCommands } from './organization-commands.ts'
import { providers } from './providers.ts'
import { type Reached, reachedBy } from './reach.ts'
import { replay } from './replay.ts'
import { serverCommands } from './server-commands.ts'
import { speechCommands } from './speech-commands.ts'
import { spendCommands } from './spend-commands.ts'
import { up } from './up.ts'
import { webhookCommands } from './webhook-commands.ts'

/** Builds the command line. Errors are thrown, and the calling code prints them. */
export function createProgram(actions: Actions): Command {
  const program = new Command('parley')
    .description('Self-hosted voice gateway and telephony platform')
    .version(actions.version)
    .option('--url <address>', 'the server that commands talk to; else PARLEY_URL, else the one of this folder')
    .option('--key <key>', 'the API key; else PARLEY_API_KEY, which other users of this machine cannot see')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Add --help to see what it takes.')
    .exitOverride()
  const connection = async () => reachedBy(await actions.connection(), program.opts<Reached>())
  const given = { ...actions, connection }
  for (const add of [
    up,
    ...serverCommands,
    ...organizationCommands,
    ...speechCommands,
    providers,
    agents,
    calls,
    ...spendCommands,
    dial,
    callbacks,
    ...numberCommands,
    ...webhookCommands,
    bundle,
    replay,
    conform,
    demo,
    ...lastCommands,
  ])
    add(program, given)
  showExamples(program)
  return program
}

/** Adds the examples to the help of `command` and of all commands in it. */
function showExamples(command: Command, name = ''): void {
  const lines = examples[name]
  if (lines) command.addHelpText('after', ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n'))
  for (const each of command.commands) showExamples(each, `${name} ${each.name()}`.trim())
}
