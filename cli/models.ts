import type { Command } from 'commander'
import type { ListModelsCall } from '../generated/clients/typescript/router.ts'
import type { Actions } from './actions.ts'
import { addedModels } from './added-models.ts'
import { routerClient } from './client.ts'
import { print } from './print.ts'

type Options = {
  language: string
  objective: 'balanced' | 'quality' | 'accuracy' | 'latency' | 'cost'
  path: 'stream' | 'batch'
  json: boolean
}

export function models(program: Command, actions: Actions): void {
  const group = program
    .command('models')
    .description('what can be routed to now, best first')
    .option('--language <tag>', 'those that know this language, ranked by figures for it', 'en')
    .option('--objective <name>', 'balanced, quality (or accuracy), latency or cost', 'balanced')
    .option('--path <name>', 'stream or batch', 'stream')
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, ...query }: Options) => {
      const { body } = await routerClient(await actions.connection()).listModels({ query } satisfies ListModelsCall)
      const speaking = body.models.filter(({ languages }) => speaks(languages, query.language))
      print(json, body, () => [
        ...speaking.map((row) =>
          [row.kind, String(row.rank).padStart(3), row.pin.padEnd(40), row.languages.slice(0, 8).join(' ')].join('  '),
        ),
        ...(speaking.length < body.models.length
          ? [`${body.models.length - speaking.length} more do not know the language ${query.language}`]
          : []),
      ])
    })
  group
    .command('update')
    .description('merge a newer catalog of figures and prices into the data folder')
    .argument('<source>', 'a file, or an http(s) URL')
    .option('--json', 'print the result as JSON', false)
    // The command group receives `--json`, even if the option is after the subcommand.
    .action(async (source: string, _options: object, command: Command) => {
      const updated = await actions.updateCatalog(source)
      const { path, before, after, models, figures, prices } = updated
      print(command.optsWithGlobals<{ json: boolean }>().json, updated, () => [
        `catalog of ${after} over that of ${before}: ${models} models, ${figures} figures, ${prices} prices`,
        `written to ${path}; a Parley that runs takes it at its next start`,
      ])
    })
  addedModels(group, actions)
}

/**
 * True if a model with these languages supports the language tag. A model without a list supports all languages. A
 * model with `de` supports `de-AT`.
 */
function speaks(languages: readonly string[], tag: string): boolean {
  const base = tag.toLowerCase().split('-')[0]
  return languages.length === 0 || languages.some((each) => each.toLowerCase().split('-')[0] === base)
}
