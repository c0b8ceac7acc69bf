import { type Command, Option } from 'commander'
import type { RoutingPreview } from '../generated/compat/types.ts'
import type { Actions } from './actions.ts'
import { linesOfChoice, table } from './choice.ts'
import { compatClient } from './client.ts'
import { print } from './print.ts'

type Options = {
  stage: 'stt' | 'tts' | 'llm'
  language: string
  objective?: 'balanced' | 'quality' | 'accuracy' | 'latency' | 'cost'
  path?: 'stream' | 'batch'
  json: boolean
}

const objectives = ['balanced', 'quality', 'accuracy', 'latency', 'cost']

export function preview(program: Command, actions: Actions): void {
  program
    .command('preview')
    .description(
      'where a request would go, and why: scores, the figures behind them with source and date, who is excluded',
    )
    .addOption(new Option('--stage <name>', 'what is to be done').choices(['stt', 'tts', 'llm']).makeOptionMandatory())
    .option('--language <tag>', 'language spoken', 'en')
    .addOption(new Option('--objective <name>', 'what to favour').choices(objectives))
    .addOption(new Option('--path <name>', 'a request, or a session on a socket (stream)').choices(['stream', 'batch']))
    .option('--json', 'print the answer as it came', false)
    .action(async ({ json, ...query }: Options) => {
      const { body } = await compatClient(await actions.connection()).previewRouting({ query })
      print(json, body, () => linesOfPreview(body))
    })
}

function linesOfPreview(body: RoutingPreview): string[] {
  const figures = body.scores.flatMap(({ id, figures = [] }) => figures.map((figure) => ({ id, figure })))
  const missing = body.scores.filter(({ score }) => score === null).length
  return [
    ...linesOfChoice(body),
    '',
    ...(figures.length > 0 ? ['figures', ...table([heading, ...figures.map(rowOfFigure)])] : ['no figures']),
    ...(missing > 0 ? ['', `${missing} without a score: nobody has a figure for what this objective is about`] : []),
  ]
}

const heading = ['model', 'part', 'figure', 'value', 'of', 'source']

type Figure = NonNullable<RoutingPreview['scores'][number]['figures']>[number]

function rowOfFigure({ id, figure }: { id: string; figure: Figure }): string[] {
  const { metric, language, path, source, interested } = figure
  return [
    id,
    figure.part.replace('_', ' '),
    metric,
    valueOf(figure),
    language === '*' ? path : `${language} ${path}`,
    `${source}${interested ? ' (interested)' : ''}, ${figure.as_of}`,
  ]
}

function valueOf({ value, unit }: Figure): string {
  if (value === null) return '–'
  if (unit === 'micro_usd') return `$${(value / 1_000_000).toFixed(3)}`
  const short = String(Math.round(value * 1000) / 1000)
  return unit === 'percent' ? `${short} %` : unit === 'ms' ? `${short} ms` : short
}
