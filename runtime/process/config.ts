/**
 * Settings come, by falling priority, from the environment, the file named by PARLEY_CONFIG (or ./parley.yaml) and the
 * schema's defaults. The environment is read here and nowhere else. The schema in specs/ defines the keys.
 */
import { existsSync, readFileSync } from 'node:fs'
import type { Validate, Violation } from '../engine/operation.ts'
import { loadYaml } from '../optional.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A scalar, list or map in the schema, from the generated list of keys. Objects inside lists have no variable. */
export type ConfigKey = {
  path: readonly string[]
  env: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object'
  secret: boolean
}

export class ConfigError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ConfigError'
  }
}

type Tree = Record<string, unknown>

/** Loads the settings. Rejects with ConfigError. Its message names the key, its source and the violation. */
export async function loadConfig<Config>(
  environment: Environment,
  keys: readonly ConfigKey[],
  validate: Validate,
): Promise<Config> {
  const env = withoutServiceLinks(environment)
  refuseUnknown(env, keys)
  const file = configFile(env)
  const tree = file === null ? {} : await readFile(file)
  const origin = new Map<string, string>()
  for (const key of keys) {
    const text = fromEnvironment(env, key)
    if (text === undefined) continue
    origin.set(`/${key.path.join('/')}`, key.env)
    place(tree, key.path, await read(text, key))
  }
  if (!validate(tree)) throw new ConfigError(explain(validate.errors?.[0], origin, file))
  return tree as Config
}

/** Returns the settings file in use, or null. */
export function configFile(env: Environment): string | null {
  return env['PARLEY_CONFIG'] ?? (existsSync('parley.yaml') ? 'parley.yaml' : null)
}

/**
 * Kubernetes describes each Service in the namespace in every pod's environment. For a Service `parley`, it sets
 * PARLEY_SERVICE_HOST, PARLEY_SERVICE_PORT, PARLEY_PORT=tcp://10.0.0.1:8080, PARLEY_PORT_8080_TCP_ADDR and so on. These
 * are not settings. PARLEY_PORT is a setting only if it has no scheme.
 */
function withoutServiceLinks(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isServiceLink(name, value ?? '')))
}

function isServiceLink(name: string, value: string): boolean {
  if (/^PARLEY_(\w+_)?SERVICE_(HOST|PORT(_\w+)?)$/.test(name)) return true
  if (/^PARLEY_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true
  return /^PARLEY_(\w+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value)
}

/** Variables for this loader, the command line, and the processes of one gateway. They are not settings. */
const otherVariables = new Set([
  'PARLEY_CONFIG',
  'PARLEY_URL',
  'PARLEY_API_KEY',
  'PARLEY_WEBHOOK_SECRET',
  'PARLEY_WORKER',
])

/**
 * Throws ConfigError for a variable without a setting. Otherwise a server with a misspelt name would silently run with
 * the default.
 */
function refuseUnknown(env: Environment, keys: readonly ConfigKey[]): void {
  const settingNames = new Set(keys.flatMap((key) => (key.secret ? [key.env, `${key.env}_FILE`] : [key.env])))
  const unknown = Object.keys(env).find(
    (name) => /^PARLEY_(?!TEST_)/.test(name) && !settingNames.has(name) && !otherVariables.has(name),
  )
  if (unknown !== undefined) throw new ConfigError(`${unknown}: there is no such setting`)
}

async function readFile(file: string): Promise<Tree> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ConfigError(`${file}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  const { parse } = await loadYaml()
  let value: unknown
  try {
    value = parse(text) ?? {}
  } catch (cause) {
    // The parser's first line has the line and column. The rest quotes the file, which can hold secrets.
    throw new ConfigError(`${file}: ${String((cause as Error).message).split('\n')[0]}`)
  }
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ConfigError(`${file}: expected a mapping of settings`)
  return value as Tree
}

function fromEnvironment(env: Environment, key: ConfigKey): string | undefined {
  return key.secret ? secretOf(env, key.env) : env[key.env] || undefined
}

/**
 * Returns the variable with this name, or the content of the file named by the variable with the suffix `_FILE`. Throws
 * ConfigError.
 */
export function secretOf(env: Environment, name: string): string | undefined {
  const [direct, file] = [env[name], env[`${name}_FILE`]]
  if (direct && file) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one of them`)
  if (!file) return direct || undefined
  const text = readSecretFile(`${name}_FILE`, file)
  if (text === '') throw new ConfigError(`${name}_FILE: ${file} is empty`)
  return text
}

function readSecretFile(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown'
    throw new ConfigError(`${variable}: ${file} cannot be read (${code})`)
  }
}

/**
 * Converts a variable's text to the key's type. If the text does not fit, it stays text, so the validator reports it
 * like any other invalid value.
 */
async function read(text: string, key: ConfigKey): Promise<unknown> {
  switch (key.type) {
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : text
    case 'array':
      return list(text, key.env)
    case 'object':
      return readYaml(text, `${key.env}: neither JSON nor YAML`)
    case 'string':
      return text
  }
}

/** Reads a list. It is written as a,b,c. If its items are objects, it is JSON or YAML. */
async function list(text: string, env: string): Promise<unknown> {
  if (!/^\s*[[{-]/.test(text)) return text.split(',').map((item) => item.trim())
  return readYaml(text, `${env}: neither a comma-separated list nor YAML`)
}

/** Parses YAML. Every JSON text is YAML. */
async function readYaml(text: string, failure: string): Promise<unknown> {
  const { parse } = await loadYaml()
  try {
    return parse(text)
  } catch {
    throw new ConfigError(failure)
  }
}

function place(tree: Tree, path: readonly string[], value: unknown): void {
  let at = tree
  for (const name of path.slice(0, -1)) {
    const inner = at[name]
    at = (typeof inner === 'object' && inner !== null ? inner : (at[name] = {})) as Tree
  }
  at[path.at(-1) as string] = value
}

/** Describes a violation. The value itself is not repeated: it can be a secret. */
function explain(violation: Violation | undefined, origin: ReadonlyMap<string, string>, file: string | null): string {
  if (!violation) return 'the configuration is not valid'
  const unknown = violation.params['additionalProperty']
  const missing = violation.params['missingProperty']
  const pointer = violation.instancePath + ((unknown ?? missing) ? `/${String(unknown ?? missing)}` : '')
  const source = origin.get(pointer) ?? `${file ?? 'the configuration'}, key ${pointer.slice(1).replaceAll('/', '.')}`
  if (unknown) return `${source}: there is no such setting`
  if (missing) return `${source}: is missing`
  const allowed = violation.params['allowedValues']
  return `${source}: ${violation.message ?? 'is not valid'}${Array.isArray(allowed) ? ` (${allowed.join(', ')})` : ''}`
}
