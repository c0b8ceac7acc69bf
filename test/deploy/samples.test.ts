/** The files in deploy/ are checked by the programs that read them, and against Parley's settings. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { serving } from './settings.ts'

const deploy = path.resolve(import.meta.dirname, '../../deploy')
const read = (name: string) => readFileSync(path.join(deploy, name), 'utf8')
const temporary = mkdtempSync(path.join(os.tmpdir(), 'parley-samples-'))
t.teardown(() => rmSync(temporary, { recursive: true, force: true }))

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
const withoutSystemd = !hasSystemd && 'systemd-analyze is not installed'
t.test('systemd accepts the sample unit', { skip: withoutSystemd }, (t) => {
  // The program of the systemd unit is not installed at its path here, so ExecStart names another program.
  const unit = read('systemd/parley.service').replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`)
  t.strictSame(verify(unit), { status: 0, said: '' })
  t.match(verify(unit.replace('KillMode=mixed', 'KilMode=mixed')).said, 'KilMode', 'systemd would name a mistake')
  t.end()
})

function verify(unit: string): { status: number | null; said: string } {
  const file = path.join(temporary, 'parley@8080.service')
  writeFileSync(file, unit)
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file])
  const said = stderr.toString().split('\n')
  return { status, said: said.filter((line) => line.includes('parley@')).join('\n') }
}

t.test('systemd accepts the sample unit with its drop-in files', { skip: withoutSystemd }, (t) => {
  const unit = read('systemd/parley.service').replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath}`)
  const dropIn = read('systemd/files.conf').replace(/^#(?=\w+=)/gm, '')
  t.strictSame(verify(`${unit}\n${dropIn}`), { status: 0, said: '' })
  const credentials = [...dropIn.matchAll(/^LoadCredential=(\S+):\/etc\/parley\//gm)].map(([, id]) => id)
  t.strictSame(
    [...dropIn.matchAll(/^Environment=(\w+)=%d\/(\S+)$/gm)].map(([, , id]) => id),
    credentials,
    'each path is that of a file that systemd gives to the node',
  )
  t.end()
})

t.test('the systemd unit starts Node with the same flags as main.js', (t) => {
  const flags = (line: string | undefined) => line?.match(/--\S+/g)
  const main = readFileSync(path.join(deploy, '../main.ts'), 'utf8').split('\n')[0]
  const command = /^ExecStart=.*$/m.exec(read('systemd/parley.service'))?.[0]
  t.strictSame(flags(command), flags(main))
  t.ok(flags(main), 'there are flags')
  t.end()
})

t.test('Parley accepts the settings of the systemd unit', async (t) => {
  const lines = read('systemd/parley.env').split('\n')
  const environment = /^Environment=(.*)$/m.exec(read('systemd/parley.service'))?.[1] ?? ''
  const ofUnit = pairs(environment.replaceAll('%i', '8080').split(' '))
  const sample = pairs(lines.filter((line) => /^\w+=/.test(line)))
  const settings = { ...sample, PARLEY_MASTER_KEY: 'm'.repeat(44) }
  const config = await serving({ ...settings, ...ofUnit })
  t.strictSame([config.port, config.adminPort, config.dataDir], [8080, 18_080, '/var/lib/parley/8080'])
  await t.rejects(serving({ ...settings, PARLEY_PUBLIC_ADDRESS: 'x' }), { message: /no such setting/ })
  await t.rejects(serving({ ...sample, ...ofUnit }), { message: /^PARLEY_MASTER_KEY: / }, 'the sample has no key')
})

type Service = {
  environment: Record<string, string>
  volumes?: string[]
  env_file?: { path: string; required: boolean }[]
  ports?: string[]
  read_only?: boolean
  stop_grace_period?: string
  depends_on?: Record<string, unknown>
}

t.test('the compose file has valid settings, existing files, and two nodes with one database', async (t) => {
  const { services, volumes } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, Service>
    volumes: Record<string, null>
  }
  t.strictSame(Object.keys(services), ['postgres', 'parley-1', 'parley-2', 'caddy'])
  const given = { SITE: 'voice.example.com', POSTGRES_PASSWORD: 'secret', PARLEY_MASTER_KEY: 'm'.repeat(44) }
  for (const name of ['parley-1', 'parley-2']) {
    const service = services[name] as Service
    const config = await serving({ ...interpolated(service.environment, given), ...ofImage() })
    t.equal(config.nodeUrl, `https://voice.example.com/${name.replace('parley', 'node')}`)
    t.equal(config.databaseUrl, 'postgres://parley:secret@postgres:5432/parley')
    t.strictSame([config.adminHost, config.adminPort], ['0.0.0.0', 9464], 'Prometheus reaches the metrics')
    t.notOk(service.ports, 'the nodes are not reachable from outside')
    t.strictSame(service.env_file, [{ path: 'settings/parley.env', required: false }])
    t.notMatch(service.environment, { PARLEY_CONFIG: String }, 'the file of settings decides about it')
    t.equal(service.read_only, true)
    t.equal(service.stop_grace_period, '11m')
    t.ok(11 * 60_000 > config.drain.sessionsMs + config.drain.lbDelayMs, 'the node is killed only after it has drained')
    for (const needed of Object.keys(service.depends_on ?? {})) t.ok(services[needed], `${needed} is a service`)
  }
  for (const volume of Object.values(services).flatMap((service) => service.volumes ?? [])) {
    const [source = ''] = volume.split(':')
    t.ok(source.startsWith('./') ? existsSync(path.join(deploy, source)) : source in volumes, `${source} exists`)
  }
  t.strictSame(interpolated((services['caddy'] as Service).environment, given), {
    SITE: 'voice.example.com',
    NODE_1: 'parley-1:8080',
    NODE_2: 'parley-2:8080',
  })
  t.throws(() => interpolated({ URL: `\${SITE:?}` }, {}), 'a variable without a value is found')
})

function interpolated(environment: Record<string, string>, given: Record<string, string>): Record<string, string> {
  const fill = (text: string) =>
    text.replaceAll(/\$\{(\w+):\?\}/g, (_, name: string) => {
      if (given[name] === undefined) throw new Error(`${name} has no value`)
      return given[name]
    })
  return Object.fromEntries(Object.entries(environment).map(([name, text]) => [name, fill(text)]))
}

/** Returns the settings in the Dockerfile's ENV. */
function ofImage(): Record<string, string> {
  const line = /^ENV (.*)$/m.exec(read('Dockerfile'))?.[1] ?? ''
  return pairs(line.split(' '))
}

function pairs(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
}
