/** Runs one command of the command line in this process, over a server of the test. Commands run one after another. */
import { createActions } from '../app/commands/actions.ts'
import { explain } from '../cli/client.ts'
import { createProgram } from '../cli/program.ts'
import type { Settings, TestServer } from './server.ts'

export type Finished = { code: number; stdout: string; stderr: string }

let running: Promise<unknown> = Promise.resolve()

/** `env` goes on top of the settings with which a command finds the server and its database. */
export function runCommand(server: TestServer, args: readonly string[], env: Settings = {}): Promise<Finished> {
  const { dataDir, databaseUrl, url } = server
  const settings = { PARLEY_DATA_DIR: dataDir, DATABASE_URL: databaseUrl, PARLEY_URL: url, ...env }
  const finished = running.then(() => run(args, settings))
  running = finished.catch(() => {})
  return finished
}

async function run(args: readonly string[], env: Settings): Promise<Finished> {
  const printed = { stdout: '', stderr: '' }
  const { log, error } = console
  const codeBefore = process.exitCode
  console.log = (...texts: unknown[]) => (printed.stdout += `${texts.join(' ')}\n`)
  console.error = (...texts: unknown[]) => (printed.stderr += `${texts.join(' ')}\n`)
  try {
    process.exitCode = 0
    const program = createProgram(createActions(env))
    for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
      command.exitOverride().configureOutput({
        writeOut: (text) => (printed.stdout += text),
        writeErr: (text) => (printed.stderr += text),
      })
    await program.parseAsync(args, { from: 'user' })
    return { code: Number(process.exitCode), ...printed }
  } catch (thrown) {
    const { exitCode } = thrown as { exitCode?: number }
    // Commander has printed why.
    if (exitCode === undefined) printed.stderr += `parley: ${explain(thrown)}\n`
    return { code: exitCode ?? 1, ...printed }
  } finally {
    process.exitCode = codeBefore
    Object.assign(console, { log, error })
  }
}
