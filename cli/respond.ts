import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/typescript/router.ts'
import type { Actions } from './actions.ts'
import { pinnedTo, routerClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { wholeNumber } from './number-option.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { textOf } from './stdin.ts'

type Options = { json: boolean; model?: string; maxTokens: number; system?: string }

export function respond(program: Command, actions: Actions): void {
  program
    .command('respond')
    .description('an LLM answer, printed as it comes')
    .argument('<text>', 'the question, or - for standard input')
    .option('--system <text>', 'instructions for the model')
    .option('--model <pin>', 'provider/model; left out, the router chooses')
    .option(
      '--max-tokens <count>',
      'the most that the answer may take',
      wholeNumber('--max-tokens', 1, 1_000_000),
      1000,
    )
    .option('--json', 'print the whole answer as JSON', false)
    .action(async (text: string, { json, model, maxTokens, system }: Options) => {
      const input = [...(system ? [message('system', system)] : []), message('user', await textOf(text))]
      const body = { input, max_output_tokens: maxTokens, ...pinnedTo(model) }
      const client = routerClient(await actions.connection())
      await (json ? printWhole(client, body) : printAnswer(client, body))
    })
}

type Body = Parameters<RouterClient['createResponse']>[0]['body']

async function printWhole(client: RouterClient, body: Body): Promise<void> {
  const answer = await withProgress('waiting for the answer', () => client.createResponse({ body }))
  print(true, answer.body, () => [])
}

/** Writes an answer's text to standard output as it arrives. */
export async function printAnswer(client: RouterClient, body: Body): Promise<void> {
  const answer = await client.createResponse({ body: { ...body, stream: true } })
  if (answer.type !== 'text/event-stream') throw new CommandError('the server did not stream')
  for await (const { event, data } of answer.body) {
    if (event === 'response.text.delta') process.stdout.write(data.delta)
    if (event === 'error') throw new CommandError(`\n${data.error.code}: ${data.error.message}`)
  }
  process.stdout.write('\n')
}

export function message(role: 'system' | 'user', text: string) {
  return { type: 'message' as const, role, content: [{ type: 'text' as const, text }] }
}
