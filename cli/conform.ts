import { writeFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { Actions, Connection } from './actions.ts'
import { CommandError } from './command-error.ts'
import { requirePlace } from './file-option.ts'
import { reachedBy, readAddress } from './reach.ts'

const about = `
Checks a running server against its OpenAPI and AsyncAPI documents, which are read from it: 62 checks on documents,
operations and sockets. docs/conform.md lists them. Resources that the checks need are made and removed again.

The exit code is 0 without a failure, 1 with one or if the run ends early, 2 if the server does not answer, and 130
after Ctrl-C, which removes the resources and prints the report so far.`

type Options = {
  testKey?: string
  keyOfLesserScope?: string
  spend: boolean
  strict: boolean
  only: readonly string[]
  record?: string
  junit?: string
  json: boolean
}

export function conform(program: Command, actions: Actions): void {
  program
    .command('conform')
    .description('check a running server against its documents: every operation and every socket')
    .argument('[url]', 'the server; else the one of --url')
    .option('--test-key <key>', 'a test key, for operations that spend: its numbers, calls and messages are simulated')
    .option('--key-of-lesser-scope <key>', 'a key without scopes, to check that operations refuse it')
    .option('--spend', 'also spend money and replace settings of the organization, without a test key', false)
    .option('--strict', 'take warnings as failures: fields and headers that no document names', false)
    .option('--only <names>', 'these operations, channels and documents, separated by commas', namesOf, [])
    .option('--record <folder>', 'write each request and answer into this folder, without the keys')
    .option('--junit <file>', 'write the report for a build server')
    .option('--json', 'print the report as JSON', false)
    .addHelpText('after', about)
    .action(async (url: string | undefined, options: Options) =>
      run(await connectionTo(actions, url), actions, options),
    )
}

async function connectionTo(actions: Actions, url: string | undefined): Promise<Connection> {
  const connection = await actions.connection()
  return url === undefined ? connection : reachedBy(connection, { url: readAddress(url, 'the argument') })
}

async function run({ baseUrl, apiKey }: Connection, actions: Actions, options: Options): Promise<void> {
  if (apiKey === null) throw new CommandError('no key: name one with --key or PARLEY_API_KEY')
  const { testKey = null, keyOfLesserScope = null, spend, strict, only, record = null, junit, json } = options
  if (junit !== undefined) requirePlace('--junit', junit)
  const keys = { key: apiKey, testKey, keyOfLesserScope }
  const result = await actions.conform({ url: baseUrl, keys, spends: spend, strict, only, recordTo: record })
  if (junit !== undefined) await writeFile(junit, result.junit)
  console.log(json ? JSON.stringify(result.report, null, 2) : result.lines.join('\n'))
  if (result.exitCode > 0) process.exitCode = result.exitCode
}

function namesOf(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('It takes names, separated by commas.')
  return names
}
