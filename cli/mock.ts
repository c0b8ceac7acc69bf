import type { Command } from 'commander'
import type { Actions } from './actions.ts'
import { wholeNumber } from './number-option.ts'

const about = `
It needs no database, no provider and no network. Any bearer key is taken. A request that breaks the contract gets 400.
Every answer is an example of the contract; the header Prefer selects another one:
  Prefer: code=404          the answer with this status (also status=404) for any request
  Prefer: example=tool_call the example with this name
  Prefer: error=UPSTREAM    on a socket: this error frame and its close code
docs/mock.md has the order of the frames on each socket.`

/** The default port, the same as for other mock servers such as Prism. */
const usualPort = 4010

export function mock(program: Command, actions: Actions): void {
  program
    .command('mock')
    .description('answer every operation and socket with the examples of the contract; Ctrl-C ends it')
    .option('--port <number>', 'the port to listen on; 0 is any free port', wholeNumber('--port', 0, 65_535), usualPort)
    .option('--host <address>', 'the address to listen on; by default only this machine reaches it', '127.0.0.1')
    .addHelpText('after', about)
    .action((options: { port: number; host: string }) => actions.mock(options, (url) => console.log(greeting(url))))
}

function greeting(url: string): string {
  return [
    `The mock server is ready at ${url}`,
    `  try   curl -s ${url}/v1/agents -H 'Authorization: Bearer any'`,
    `  error curl -s ${url}/v1/agents -H 'Authorization: Bearer any' -H 'Prefer: code=429'`,
  ].join('\n')
}
