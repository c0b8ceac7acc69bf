/**
 * Runs CLI commands inside the test's process against the test's server. Node's asynchronous context tells each
 * command's output apart. A test with a signal or a pipe needs the built program (test/process/command.ts).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { createActions } from '../app/commands/actions.ts'
import { outcomeOf } from '../cli/outcome.ts'
import { createProgram } from '../cli/program.ts'
import type { Settings, TestServer } from './server.ts'

/** `code` is null if a signal ended the command, as for a real process. */
export type Finished = { code: number | null; stdout: string; stderr: string }

/** A server's parts for a command: URL, data folder and database. */
type Reached = Pick<TestServer, 'dataDir' | 'databaseUrl' | 'url'>

/** A command beside others, such as `calls tail`, with its output. */
export type Following = {
  /** Its output so far. */
  output: () => string
  ended: Promise<Finished>
  /** Aborts the command's requests and refuses its next one, because otherwise only Ctrl-C would end some commands. */
  stop: () => Promise<Finished>
}

type Terminal = { stdin: Readable; stdout: string; stderr: string; output: string; stopped: AbortController }

const terminals = new AsyncLocalStorage<Terminal>()
let queue: Promise<unknown> = Promise.resolve()

/**
 * Runs a command. `env` is added to the settings that locate the server and its database. These commands run one after
 * another, because they share the process's exit code.
 */
export function runCommand(
  server: Reached,
  args: readonly string[],
  env: Settings = {},
  stdin = '',
): Promise<Finished> {
  return runAlone(args, settingsOf(server, env), stdin)
}

/** Runs a command with only these settings, and without a server's URL. */
export function runAlone(args: readonly string[], env: Settings, stdin = ''): Promise<Finished> {
  const finished = queue.then(async () => {
    const codeBefore = process.exitCode
    process.exitCode = 0
    try {
      const { code, ...printed } = await run(terminalOf(stdin), args, env)
      return { code: code === 0 ? Number(process.exitCode) : code, ...printed }
    } finally {
      process.exitCode = codeBefore
    }
  })
  queue = finished.catch(() => {})
  return finished
}

/**
 * Starts a command such as `calls tail`, which runs until its subject has ended. It sets no exit code unless it fails.
 */
export function startCommand(server: Reached, args: readonly string[], env: Settings = {}): Following {
  const terminal = terminalOf('')
  const ended = run(terminal, args, settingsOf(server, env))
  const stop = () => {
    terminal.stopped.abort()
    return ended
  }
  return { output: () => terminal.output, ended, stop }
}

const settingsOf = ({ dataDir, databaseUrl, url }: Reached, env: Settings): Settings => ({
  PARLEY_DATA_DIR: dataDir,
  DATABASE_URL: databaseUrl,
  PARLEY_URL: url,
  ...env,
})

function terminalOf(stdin: string): Terminal {
  const input = Readable.from(stdin === '' ? [] : [Buffer.from(stdin)])
  return { stdin: input, stdout: '', stderr: '', output: '', stopped: new AbortController() }
}

function run(terminal: Terminal, args: readonly string[], env: Settings): Promise<Finished> {
  const leave = enter()
  return terminals
    .run(terminal, () => codeOf(terminal, args, env))
    .then((code) => {
      leave()
      return { code, stdout: terminal.stdout, stderr: terminal.stderr }
    })
}

async function codeOf(terminal: Terminal, args: readonly string[], env: Settings): Promise<number> {
  try {
    const program = createProgram(createActions(env))
    for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)])
      command.exitOverride().configureOutput({
        writeOut: (text) => print(terminal, 'stdout', text),
        writeErr: (text) => print(terminal, 'stderr', text),
      })
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (thrown) {
    const { code, words } = outcomeOf(thrown)
    if (words !== null) print(terminal, 'stderr', `${words}\n`)
    return code
  }
}

function print(terminal: Terminal, stream: 'stdout' | 'stderr', text: string): void {
  terminal[stream] += text
  terminal.output += text
}

let inside = 0
let restore = () => {}

/**
 * While commands run, the process's output goes to the command that wrote it. Returns a function that ends this
 * redirection for one command.
 */
function enter(): () => void {
  const listeners = process.listeners('SIGINT')
  if (inside++ === 0) restore = replaceTerminal()
  return () => {
    for (const each of process.listeners('SIGINT')) if (!listeners.includes(each)) process.off('SIGINT', each)
    if (--inside === 0) restore()
  }
}

function replaceTerminal(): () => void {
  const { log, error } = console
  const { fetch } = globalThis
  const { stdin } = Object.getOwnPropertyDescriptors(process)
  const write = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean
  const restores = [
    replace(console, 'log', { value: toTerminal('stdout', log) }),
    replace(console, 'error', { value: toTerminal('stderr', error) }),
    replace(process.stdout, 'write', {
      value: (chunk: string | Uint8Array, ...more: unknown[]) => {
        const terminal = terminals.getStore()
        if (terminal === undefined) return write(chunk, ...more)
        print(terminal, 'stdout', typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
        for (const done of more) if (typeof done === 'function') queueMicrotask(done as () => void)
        return true
      },
    }),
    replace(process, 'stdin', { get: () => terminals.getStore()?.stdin ?? (stdin.get?.call(process) as unknown) }),
    replace(globalThis, 'fetch', { value: fetchUntilStopped(fetch) }),
  ]
  return () => {
    for (const restore of restores) restore()
  }
}

function replace(of: object, name: string, by: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(of, name)
  Object.defineProperty(of, name, { configurable: true, ...('value' in by && { writable: true }), ...by })
  return () => {
    if (before === undefined) Reflect.deleteProperty(of, name)
    else Object.defineProperty(of, name, before)
  }
}

const toTerminal =
  (stream: 'stdout' | 'stderr', otherwise: (...texts: unknown[]) => void) =>
  (...texts: unknown[]) => {
    const terminal = terminals.getStore()
    if (terminal === undefined) otherwise(...texts)
    else print(terminal, stream, `${texts.join(' ')}\n`)
  }

const fetchUntilStopped =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  (input, init) => {
    const signal = terminals.getStore()?.stopped.signal
    if (signal === undefined) return fetch(input, init)
    if (signal.aborted) return Promise.resolve(Response.json({}, { status: 401 }))
    return fetch(input, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, signal]) : signal })
  }
