import { Command } from 'commander'
import type { Actions } from './actions.ts'
import { agents } from './agents.ts'
import { backup } from './backup.ts'
import { bundle } from './bundle.ts'
import { callbacks } from './callbacks.ts'
import { calls } from './calls.ts'
import { config } from './config.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { drain } from './drain.ts'
import { keys } from './keys.ts'
import { kyb } from './kyb.ts'
import { listen } from './listen.ts'
import { migrate } from './migrate.ts'
import { models } from './models.ts'
import { numbers } from './numbers.ts'
import { org } from './org.ts'
import { preview } from './preview.ts'
import { replay } from './replay.ts'
import { respond } from './respond.ts'
import { speak } from './speak.ts'
import { transcribe } from './transcribe.ts'
import { trigger } from './trigger.ts'
import { webhooks } from './webhooks.ts'
import { why } from './why.ts'

/** Builds the command line. Errors are thrown; the calling code prints them. */
export function createProgram(actions: Actions): Command {
  const program = new Command('parley')
    .description('Self-hosted voice gateway and telephony platform')
    .version(actions.version)
    .showHelpAfterError()
  program
    .command('up')
    .description('start Parley in this terminal; Ctrl-C drains and ends it')
    .action(() => actions.up())
  const speech = [transcribe, speak, respond, models, preview, why]
  for (const add of [
    doctor,
    config,
    migrate,
    backup,
    drain,
    keys,
    org,
    kyb,
    ...speech,
    agents,
    calls,
    callbacks,
    numbers,
    listen,
    trigger,
    webhooks,
    bundle,
    replay,
    demo,
  ])
    add(program, actions)
  return program
}
