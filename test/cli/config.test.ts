/** Commands that need no server: ping, config check, the usage. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { runAlone } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { refused } from './refused.ts'

const files = freshDataDir()
const dataDir = freshDataDir()
mkdirSync(files, { recursive: true })
t.teardown(() => {
  for (const folder of [files, dataDir]) rmSync(folder, { recursive: true, force: true })
})

const alone = (args: string[], env: Record<string, string> = {}) => runAlone(args, { PARLEY_DATA_DIR: dataDir, ...env })

t.test("if a server does not answer, the command `ping` prints the server's URL", async (t) => {
  const address = (env: Record<string, string>) => alone(['ping'], { PARLEY_PORT: '9', ...env })
  refused(t, await address({}), /^parley: http:\/\/127\.0\.0\.1:9 does not answer$/m)
  refused(t, await address({ PARLEY_HOST: '::1' }), /^parley: http:\/\/\[::1\]:9 does not answer$/m)
  refused(
    t,
    await address({ PARLEY_URL: 'http://::1:9' }),
    /^parley: PARLEY_URL: http:\/\/::1:9 is no address such as http/m,
  )
})

t.test('`config check` prints the effective settings and no secret', async (t) => {
  const canary = 'c4n4ry'
  const file = path.join(files, 'parley.yaml')
  const provider = `  - { id: mine, adapter: openai, baseUrl: 'http://127.0.0.1:9/v1', apiKey: ${canary}, models: { llm: [m] } }`
  writeFileSync(file, `region: north-1\nlimits: { attemptsMax: 2 }\nproviders:\n${provider}\n`)
  const secretFile = path.join(files, 'master')
  writeFileSync(secretFile, `${canary.repeat(8)}\n`)
  const { code, stdout, stderr } = await alone(['config', 'check'], {
    PARLEY_CONFIG: file,
    PARLEY_BOOTSTRAP_KEY: `sk_live_${canary.repeat(6)}`,
    PARLEY_MASTER_KEY_FILE: secretFile,
    DATABASE_URL: `postgres://user:${canary}@127.0.0.1/db`,
    PARLEY_EDGE_QUOTA: '77',
  })
  t.equal(code, 0)
  t.notMatch(stdout + stderr, canary)
  for (const line of [
    /^region +"north-1" {3}\(PARLEY_REGION\)$/m,
    /^limits\.attemptsMax +2 /m,
    /^edgeQuota +77 /m,
    /^bootstrapKey +"set" /m,
    /^masterKey +"set" /m,
    /^databaseUrl +"set" {3}\(DATABASE_URL\)$/m,
    /^providers +\["mine"\] /m,
    /^file {7}\S+parley\.yaml$/m,
    /^engine {5}\S+/m,
    /^provider {3}mine \(adapter openai\) at http:\/\/127\.0\.0\.1:9\/v1$/m,
    /^port +8080 /m,
  ])
    t.match(stdout, line)
  const check = (env: Record<string, string>) => alone(['config', 'check'], env)
  refused(t, await check({ PARLEY_PORT: '99999' }), /^parley: PARLEY_PORT: /)
  refused(t, await check({ PARLEY_LOG_LEVEL: 'loud' }), /^parley: PARLEY_LOG_LEVEL: .*trace, debug/)
  refused(t, await check({ PARLEY_BOOTSTRAP_KEY: canary }), /^parley: PARLEY_BOOTSTRAP_KEY: (?!.*c4n4ry)/)
  refused(
    t,
    await check({ PARLEY_MASTER_KEY_FILE: path.join(files, 'nothing') }),
    /^parley: PARLEY_MASTER_KEY_FILE: .*ENOENT/,
  )
  refused(
    t,
    await check({ DATABASE_URL: 'postgres://127.0.0.1/db', DATABASE_URL_FILE: secretFile }),
    /^parley: DATABASE_URL and DATABASE_URL_FILE are both set: keep one of them$/m,
  )
  refused(t, await check({ PARLEY_ALIASES: '{"a": 5}' }), /aliases\.a: must be string/)
  refused(
    t,
    await check({ PARLEY_ALIASES: '{"a": "b", "b": "auto"}' }),
    /^parley: aliases: a means b, which is an alias/,
  )
  t.equal((await check({ PARLEY_ALIASES: 'gpt-4o-mini: auto' })).code, 0)
  t.match((await check({})).stdout, /^provider {3}ollama\b/m)
  t.notMatch((await check({ PARLEY_LOCAL_OLLAMA: 'false' })).stdout, /^provider {3}ollama\b/m)
  writeFileSync(file, 'limits: { atemptsMax: 2 }\n')
  refused(t, await check({ PARLEY_CONFIG: file }), /parley\.yaml, key limits\.atemptsMax: there is no such setting/)
  writeFileSync(file, `port: [\nmasterKey: ${canary}`)
  refused(t, await check({ PARLEY_CONFIG: file }), /^parley: \S+parley\.yaml: (?!.*c4n4ry)/)
})

t.test('an unknown command is refused, and the error points to --help', async (t) => {
  const wrong = await alone(['sing'])
  refused(t, wrong, /unknown command 'sing'/)
  t.match(wrong.stderr, /Add --help/)
  t.notMatch(wrong.stderr, /Usage: /)
  refused(t, await alone(['users', 'list']), /required option '--org <organization>'/)
  const help = await alone(['--help'])
  t.equal(help.code, 0)
  for (const name of [
    'up',
    'doctor',
    'config',
    'drain',
    'keys',
    'org',
    'transcribe',
    'speak',
    'respond',
    'models',
    'demo',
  ])
    t.match(help.stdout, new RegExp(`^ {2}${name}\\b`, 'm'))
  t.match((await alone(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})
