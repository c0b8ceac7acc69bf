/** Makes a command from each row in operations.ts. */
import type { Command } from 'commander'
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { Actions } from './actions.ts'
import { linesOfAnswer } from './answer-lines.ts'
import { bodyOf } from './body-options.ts'
import { platformClient } from './client.ts'
import { agentNamed, endpointNamed, numberNamed } from './named.ts'
import { groupWords, type OperationRow, operationRows } from './operations.ts'
import { print } from './print.ts'

type Options = { json: boolean; file?: string; set: readonly string[] } & Record<string, unknown>
type Argument = { name: string; parameter: string }

/** Adds the commands. Must be called after all command groups were added, because it adds commands to them. */
export function operationCommands(program: Command, actions: Actions): void {
  for (const row of operationRows) addCommand(program, actions, row)
}

function addCommand(program: Command, actions: Actions, row: OperationRow): void {
  const [group = '', verb = ''] = row.words.split(' ')
  const args = argumentsOf(row.words)
  const command = groupOf(program, group).command(verb).description(row.says)
  for (const { name } of args) command.argument(`<${name}>`, argumentWords[name] ?? `id of the ${name}`)
  for (const name of row.query ?? []) command.option(`--${optionOf(name)} <${name}>`, `as \`${name}\` of the request`)
  if (row.body !== undefined)
    command
      .option('--file <file>', 'the body of the request as JSON, - for standard input')
      .option(
        '--set <field=value>',
        'a field of it, such as name=Ann or intent.language=en; may be repeated',
        collect,
        [],
      )
  command.option('--json', 'print the answer as JSON', false).action(async (...given: unknown[]) => {
    const values = given.slice(0, args.length) as string[]
    const options = given[args.length] as Options
    const client = platformClient(await actions.connection())
    const body = row.body === undefined ? {} : await bodyOf(row.body, options)
    const path = await pathOf(client, args, values)
    const answer = await operationOf(client, row)({ path, query: queryOf(row, options), ...body })
    print(options.json, answer.body, () => linesOfAnswer(answer.body))
  })
}

const argumentWords: Readonly<Record<string, string>> = {
  agent: 'its name, or its id, agent_…',
  endpoint: 'its name, or its id',
  number: 'the number, such as +15005550100, or its id',
  provider: 'such as openai',
  version: 'its number, as `agents versions` prints it',
  id: 'id of the number, as `rmsg numbers` prints it',
}

const collect = (value: string, before: readonly string[]) => [...before, value]

const argumentsOf = (words: string): Argument[] =>
  [...words.matchAll(/<(\w+)=(\w+)>/g)].map(([, name = '', parameter = '']) => ({ name, parameter }))

function groupOf(program: Command, name: string): Command {
  const existing = program.commands.find((command) => command.name() === name)
  return existing ?? program.command(name).description(groupWords[name] ?? '')
}

/**
 * Returns the option for a parameter: `expires_in` and `organizationId` become `--expires-in` and `--organization-id`.
 */
const optionOf = (name: string) => name.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const propertyOf = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

function queryOf({ query = [] }: OperationRow, options: Options): Record<string, unknown> {
  return Object.fromEntries(
    query.flatMap((name) => {
      const value = options[propertyOf(name)]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

async function pathOf(client: PlatformClient, args: readonly Argument[], values: readonly string[]) {
  const path: Record<string, string> = {}
  for (const [at, { name, parameter }] of args.entries()) path[parameter] = await idOf(client, name, values[at] ?? '')
  return path
}

function idOf(client: PlatformClient, name: string, value: string): Promise<string> {
  if (name === 'agent') return agentNamed(client, value)
  if (name === 'endpoint') return endpointNamed(client, value)
  return name === 'number' ? numberNamed(client, value) : Promise.resolve(value)
}

type Operation = (call: object) => Promise<{ body: unknown }>

/**
 * Returns the client's method for a row. The table lists the method's arguments. The server checks each argument and
 * names mistakes.
 */
function operationOf(client: PlatformClient, { operation }: OperationRow): Operation {
  const operations = client as unknown as Record<OperationRow['operation'], Operation>
  return (call) => operations[operation](call)
}
