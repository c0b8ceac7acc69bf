import type { Command } from 'commander'
import type { Actions, Check, ModelState, ProviderOverview, RunningInstance } from './actions.ts'
import { wordsOf } from './added-models.ts'
import { explain } from './client.ts'
import { lineOfProvider } from './config.ts'
import { print } from './print.ts'

type Settings = {
  host: string
  port: number
  dataDir: string
  databaseUrl: string | null
  publicUrl: string | null
  trustedProxies: readonly string[]
}

/** The checks that `doctor` makes on this machine. Each throws an error with a message for the user. */
export type Machine<Config extends Settings> = {
  /** Reads the configuration and checks that a server could start with it. */
  config(): Promise<Config>
  /** The configuration file. Null if there is no file. */
  configFile: string | null
  /** Returns the chosen engine, and the reason. */
  engine(config: Config): string
  store(config: Config): Promise<StoreState>
  tryPort(config: Config): Promise<void>
  running(config: Config): RunningInstance | null
  providers(config: Config): Promise<readonly ProviderOverview[]>
  /** Compares the checksums of all added models. */
  models(config: Config): Promise<readonly ModelState[]>
}

/** `missing`: `up` will create it. `outdated`: the schema is older than this version, and `up` updates it. */
type StoreState =
  | { state: 'missing' }
  | { state: 'ready' | 'outdated'; schema: number; isUnbound: boolean; unreadable: number }

export function doctor(program: Command, actions: Actions): void {
  program
    .command('doctor')
    .description('look at this machine and the configuration, and say what would keep Parley from running')
    .option('--json', 'print the checks as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const checks = await actions.doctor()
      print(json, checks, () => checks.flatMap(linesOf))
      if (checks.some((check) => !check.ok)) process.exitCode = 1
    })
}

function linesOf({ name, ok, detail, advice }: Check): string[] {
  return [`${ok ? 'ok  ' : 'FAIL'}  ${name}: ${detail}`, ...(!ok && advice ? [`      ${advice}`] : [])]
}

/** Runs each check separately, so a failed check does not hide the next. */
export async function examine<Config extends Settings>(machine: Machine<Config>): Promise<Check[]> {
  const node = checkNode()
  let config: Config
  try {
    config = await machine.config()
  } catch (error) {
    return [node, { name: 'configuration', ok: false, detail: explain(error) }]
  }
  const configuration = { name: 'configuration', ok: true, detail: machine.configFile ?? 'environment and defaults' }
  const checks = [
    checkStore(machine, config),
    checkPort(machine, config),
    checkProviders(machine, config),
    checkModels(machine, config),
  ]
  return [
    node,
    configuration,
    checkEngine(machine, config),
    ...proxyChecks(config),
    ...(await Promise.all(checks)).flat(),
  ]
}

function checkEngine<Config extends Settings>(machine: Machine<Config>, config: Config): Check {
  try {
    return { name: 'engine', ok: true, detail: machine.engine(config) }
  } catch (error) {
    return { name: 'engine', ok: false, detail: explain(error) }
  }
}

/** Parley has no TLS, so if `publicUrl` is set, a proxy must be in front of it. */
function proxyChecks({ publicUrl, trustedProxies }: Settings): Check[] {
  if (publicUrl === null) return []
  const detail =
    trustedProxies.length > 0
      ? `X-Forwarded-For of ${trustedProxies.join(', ')} is believed`
      : 'PARLEY_TRUSTED_PROXIES names none, so all clients behind a proxy share its limits by address'
  return [{ name: 'proxy', ok: true, detail }]
}

function checkNode(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  return {
    name: 'Node',
    ok: (major === 20 && minor >= 19) || (major > 20 && major < 26),
    detail: `${process.version} on ${process.platform} ${process.arch}`,
    advice: 'Use Node 20.19 or later, below 26; 24 is recommended.',
  }
}

async function checkStore<Config extends Settings>(machine: Machine<Config>, config: Config): Promise<Check[]> {
  const name = 'store'
  const detail =
    config.databaseUrl === null ? `an embedded Postgres in ${config.dataDir}` : 'the Postgres that DATABASE_URL names'
  try {
    const store = await machine.store(config)
    if (store.state === 'missing') return [{ name, ok: true, detail: `${detail}, which \`parley up\` makes` }]
    const schema = `${detail} answers, schema ${store.schema}`
    const update = ': `parley migrate` or `parley up` brings it up to date'
    const answers = { name, ok: true, detail: store.state === 'ready' ? schema : schema + update }
    return [answers, roleCheck(store.isUnbound), masterKeyCheck(store.unreadable)]
  } catch (error) {
    return [{ name, ok: false, detail: `${detail}: ${explain(error)}` }]
  }
}

const roleCheck = (isUnbound: boolean): Check => ({
  name: 'database role',
  ok: !isUnbound,
  detail: isUnbound
    ? 'it is a superuser or bypasses row level security, which keeps organizations apart'
    : 'row level security binds it',
  advice: 'Use a role in DATABASE_URL that owns the database and is no superuser.',
})

const masterKeyCheck = (unreadable: number): Check => ({
  name: 'master key',
  ok: unreadable === 0,
  detail:
    unreadable === 0
      ? 'it opens every sealed secret'
      : `${unreadable} ${unreadable === 1 ? 'secret was' : 'secrets were'} sealed with another master key`,
  advice: 'Set PARLEY_MASTER_KEY to that key, or name it in PARLEY_PREVIOUS_MASTER_KEYS.',
})

async function checkPort<Config extends Settings>(machine: Machine<Config>, config: Config): Promise<Check> {
  const name = 'port'
  const running = machine.running(config)
  if (running) return { name, ok: true, detail: `Parley runs already at ${running.url}, process ${running.pid}` }
  try {
    await machine.tryPort(config)
    return { name, ok: true, detail: `${config.host}:${config.port} is free` }
  } catch (error) {
    return { name, ok: false, detail: explain(error), advice: 'End what listens there, or set PARLEY_PORT.' }
  }
}

async function checkProviders<Config extends Settings>(machine: Machine<Config>, config: Config): Promise<Check[]> {
  try {
    const providers = await machine.providers(config)
    const isUnused = ({ missing }: ProviderOverview) => missing !== null
    const used = providers.filter((provider) => !isUnused(provider))
    const unused = providers.filter(isUnused)
    const lines = used.map(lineOfProvider)
    if (unused.length > 0) lines.push(`${unused.length} without a key: ${unused.map(keyOfProvider).join(', ')}`)
    return lines.map((detail) => ({ name: 'provider', ok: true, detail }))
  } catch (error) {
    return [{ name: 'providers', ok: false, detail: explain(error) }]
  }
}

/** A missing model is not a failure, because the other engines work without it. */
async function checkModels<Config extends Settings>(machine: Machine<Config>, config: Config): Promise<Check[]> {
  const states = await machine.models(config)
  return states.map((state) => ({
    name: 'model',
    ok: state.state !== 'damaged',
    detail: `${state.id} ${wordsOf(state)}`,
  }))
}

/** Returns a provider's id and missing variable, such as `groq (GROQ_API_KEY)`. */
const keyOfProvider = ({ id, missing }: ProviderOverview) => `${id} (${missing})`
