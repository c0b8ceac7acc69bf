/**
 * Starts the server for all clients: a running Parley with its built-in speech engines, and chat stubs that fail on
 * request.
 */
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { type Behaviour, startStubOpenAi } from '../providers/stub-openai.ts'
import { loadStreamModels } from '../realtime/socket.ts'
import { ownServer, type Settings } from '../server.ts'
import { ciphers, startTlsFront } from './tls-front.ts'

const run = promisify(execFile)
const stepsTimeoutMs = 120_000
/** One installation command may take this long. */
export const installTimeoutMs = 300_000
export const here = import.meta.dirname

export type Outcome = {
  step: string
  value?: unknown
  error?: { name: string; message: string; status: number | null }
}
export type Outcomes = Readonly<Record<string, Outcome>>

const behaviours = {
  stub: { kind: 'ok' },
  cut: { kind: 'cut' },
  reset: { kind: 'reset' },
  tools: { kind: 'tool_call' },
  agent: { kind: 'agent' },
} satisfies Record<string, Behaviour>

/** Starts a server that ends with the test. If `ids` has a single provider, `auto` chooses it. */
export async function startSetup(
  t: { teardown(run: () => Promise<unknown> | void): void },
  ids: (keyof typeof behaviours)[] = ['stub', 'cut', 'reset', 'tools'],
  settings: Settings = {},
) {
  const stubs = await Promise.all(ids.map((id) => provider(id, behaviours[id])))
  const providers = JSON.stringify(stubs.map(({ config }) => config))
  t.teardown(() => Promise.all(stubs.map(({ stub }) => stub.close())))
  const parley = await ownServer(t, { ...settings, PARLEY_PROVIDERS: providers })
  const front = await startTlsFront(Number(new URL(parley.url).port))
  t.teardown(() => front.close())
  const environment = {
    ...process.env,
    PARLEY_SECURE_BASE_URL: `https://127.0.0.1:${front.port}/v1`,
    PARLEY_SECURE_CIPHERS: ciphers,
    PARLEY_BASE_URL: `${parley.url}/v1`,
    PARLEY_KEY: parley.key,
    // Without this variable LiteLLM asks a public host for prices at every start.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    PARLEY_RECORDING: path.join(here, '../fixtures/speech/privacy-prompt.wav'),
  }
  return {
    parley,
    loadStreamModels: () => loadStreamModels(parley),
    /** Runs a client program to its end and returns its results by step. `more` is added to its environment. */
    async run(command: string, args: string[], more: Settings = {}): Promise<Outcomes> {
      const options = { cwd: here, env: { ...environment, ...more }, timeout: stepsTimeoutMs }
      const { stdout } = await run(command, args, options)
      const outcomes = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Outcome)
      return Object.fromEntries(outcomes.map((outcome) => [outcome.step, outcome]))
    },
  }
}

/** Installs packages. Returns null, or the reason why they are absent, which becomes the reason to skip the test. */
export async function install(command: string, args: string[]): Promise<string | null> {
  try {
    await run(command, args, { cwd: here, timeout: installTimeoutMs })
    return null
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    const said = stripVTControlCharacters(stderr).trim().split('\n').at(-1) || (message.split('\n')[0] ?? '')
    return `${path.basename(command)} ${args.slice(0, 2).join(' ')} failed: ${said.slice(0, 200)}`
  }
}

/** Installs the packages of `folder` if its lock is newer. Returns null, or the reason why they are absent. */
export async function installNodeClients(folder: string): Promise<string | null> {
  const root = path.join(here, folder)
  if (
    modifiedMs(path.join(root, 'node_modules/.package-lock.json')) >= modifiedMs(path.join(root, 'package-lock.json'))
  )
    return null
  const options = ['--ignore-scripts', '--loglevel=error', '--no-progress']
  return install('npm', ['ci', '--prefix', root, ...options])
}

/** Returns the time of a file's last change, or 0 if the file does not exist. */
export function modifiedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/**
 * Starts a stub and returns its provider settings. The stub behaves the same on every request, because clients may
 * repeat a failed request.
 */
async function provider(id: string, behaviour: Behaviour) {
  const stub = await startStubOpenAi()
  stub.behave(...Array.from({ length: 100 }, () => behaviour))
  const models = { llm: ['stub-llm'] }
  return { stub, config: { id, adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'none', models } }
}
