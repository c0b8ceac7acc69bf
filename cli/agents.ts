import type { Command } from 'commander'
import type { Agent, NewAgent } from '../generated/platform/types.ts'
import type { Actions } from './actions.ts'
import { table } from './choice.ts'
import { platformClient } from './client.ts'
import { agentNamed } from './named.ts'
import { print } from './print.ts'
import { readObject } from './read-object.ts'
import { oneLine } from './terminal.ts'

type Json = { json: boolean }
type Settings = { name?: string; prompt?: string; language?: string; firstMessage?: string; file?: string }

export function agents(program: Command, actions: Actions): void {
  const group = program.command('agents').description('voice agents of the organization')
  const client = async () => platformClient(await actions.connection())
  const command = (name: string, description: string) =>
    group.command(name).description(description).option('--json', 'print as JSON', false)
  command('list', 'all agents, newest first').action(async ({ json }: Json) => {
    const { body } = await (await client()).listAgents()
    print(json, body, () => (body.length > 0 ? table(body.map(rowOf)) : ['no agents']))
  })
  command('create', 'store an agent, and print its id')
    .option('--name <text>', 'its name, once in an organization')
    .option('--prompt <text>', 'how it is to behave: the system prompt, a template')
    .option('--language <tag>', 'the language that it speaks, as a BCP 47 tag')
    .option('--first-message <text>', 'what it says first')
    .option('--file <file>', 'a body of POST /v1/agents as JSON, - for standard input; the options above win over it')
    .action(async ({ json, ...settings }: Json & Settings) => {
      const agent = await newAgent(settings)
      const { body } = await (await client()).createAgent({ body: agent })
      print(json, body, () => [body.id])
    })
  command('show', 'the settings of an agent that are not the defaults')
    .argument('<agent>', 'its name, or its id, agent_…')
    .action(async (nameOrId: string, { json }: Json) => {
      const id = await agentNamed(await client(), nameOrId)
      const { body } = await (await client()).getAgent({ path: { id } })
      print(json, body, () => linesOf(body))
    })
  command('delete', 'delete an agent; its calls stay')
    .argument('<agent>', 'its name, or its id, agent_…')
    .action(async (nameOrId: string, { json }: Json) => {
      const id = await agentNamed(await client(), nameOrId)
      const { body } = await (await client()).deleteAgent({ path: { id } })
      print(json, body, () => [`${oneLine(nameOrId)} is deleted`])
    })
}

/** Joins the options with the file's fields. The server checks everything and names each invalid field. */
async function newAgent({ name, prompt, language, firstMessage, file }: Settings): Promise<NewAgent> {
  const agent: Partial<NewAgent> = file === undefined ? {} : await readObject(file)
  return {
    ...agent,
    ...(name && { name }),
    ...(prompt && { systemPrompt: prompt }),
    ...(language && { intent: { ...agent.intent, language } }),
    ...(firstMessage && { firstMessage }),
  } as NewAgent
}

const rowOf = ({ id, name, intent: { language }, createdAt }: Agent) => [
  id,
  oneLine(name),
  language,
  createdAt.slice(0, 10),
]

function linesOf(agent: Agent): string[] {
  const set = Object.entries(agent).filter(([, value]) => value !== null)
  return table(set.map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : JSON.stringify(value)]))
}
