/**
 * `make test-all LANE=production`: the commands of three guides, in order, in one empty Debian 13 for the server and
 * one for the build machine. The last commands upgrade one node after another while 200 streams and 100 sockets are
 * open and requests come. No request may fail, and nothing may be cut before a drain's grace is over.
 *
 * The guides are the script. This file adds only names that the guides leave open, a provider for the load, and
 * systemd, which does not run in a chroot. production.sh has made the roots and the networks.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { downloads, type MachineName, readSteps, type Step } from './document.ts'
import { counts, type End, type Result } from './load.ts'
import type { FromChild, ToChild } from './load-child.ts'
import { nextVersion, Repository } from './repository.ts'
import { Services } from './services.ts'

const run = process.env['PARLEY_TEST_ROOTS'] ?? ''
const tree = path.resolve(import.meta.dirname, '../../..')
const inServerNetwork = ['nsenter', '--net=/run/netns/server']
const inClientNetwork = ['nsenter', '--net=/run/netns/client']
const rootOf = (machine: MachineName) => path.join(run, machine, 'root')
const server = rootOf('server')
const settingsFile = path.join(server, 'etc/parley/parley.env')
/** The time for a whole drain: the sum of the defaults of drain.lbDelayMs and drain.graceMs. */
const graceMs = 25_000
const stepMs = 600_000
const addresses = Array.from({ length: 40 }, (_, i) => `192.0.2.${101 + i}`)
const providers = [
  {
    id: 'mock',
    adapter: 'openai',
    baseUrl: 'http://192.0.2.20:9000/v1',
    apiKey: 'k',
    models: { llm: ['quick', 'ending', 'staying'] },
  },
  { id: 'loopback', adapter: 'loopback' },
]

// There is no time limit here, because production.sh ends the test.
t.setTimeout(0)
t.test('the commands of the guides start two nodes, and an upgrade under load fails no request', async (t) => {
  const services = new Services(server, inServerNetwork)
  t.teardown(serveSystemctl(services))
  t.teardown(() => services.kill())
  const repository = new Repository(path.join(rootOf('build-machine'), 'srv/parley.git'), path.join(run, 'tree'))
  writeProgram('build-machine', 'scp', '#!/bin/sh\ncp "$1" /srv/of-server/\n')
  const stepsOf = (guide: string) => readSteps(readFileSync(path.join(tree, 'docs', guide), 'utf8'))
  const [startSteps, upgradeSteps] = [[...stepsOf('run-it.md'), ...stepsOf('settings.md')], stepsOf('upgrade.md')]
  t.ok(startSteps.length > 8 && upgradeSteps.length > 2, `${startSteps.length} and ${upgradeSteps.length} blocks`)
  let key = ''

  for (const step of startSteps) {
    const printed = await runStep(t, step, services)
    key = /^sk_live_\w+$/m.exec(printed)?.[0] ?? key
  }
  t.match(key, /^sk_live_/, 'a key was made')
  t.strictSame(await versions(), [readVersion(), readVersion()], 'both nodes run this version')

  const client = startClient()
  t.teardown(() => client.end())
  await client.next('listens')
  repository.publishNext()
  for (const step of upgradeSteps) {
    if (!step.commands.includes('systemctl restart parley@')) {
      await runStep(t, step, services)
      continue
    }
    const target = { url: 'https://voice.example.com', key }
    client.send({ kind: 'start', target, addresses })
    await client.next('full')
    await sleep(3000)
    services.stops.length = 0
    await runStep(t, step, services)
    await sleep(3000)
    client.send({ kind: 'stop' })
    const { result } = (await client.next('result')) as { result: Result }
    for (const { how, last } of result.streams) if (how === 'cut') t.comment(logOf(services, last))
    check(
      t,
      result,
      services.stops.map(({ atMs }) => atMs),
    )
  }
  t.strictSame(await versions(), [nextVersion, nextVersion], 'both nodes run the next version')
  await services.control(['stop', 'parley@8080', 'parley@8081', 'caddy'])
})

/** Runs the step's commands as a root shell on the machine does, with the machine's own package sources. */
async function runStep(t: Tap, step: Step, services: Services): Promise<string> {
  const started = performance.now()
  const network = downloads(step) ? [] : step.machine === 'server' ? inServerNetwork : inClientNetwork
  const commands = step.commands.replaceAll('ADDRESS-OF-THIS-REPOSITORY', 'file:///srv/parley.git')
  const words = [...network, 'chroot', rootOf(step.machine), 'bash', '-euo', 'pipefail', '-c', `cd\n${commands}`]
  const { code, output } = await runToEnd(words)
  const title = `${step.machine}: ${commands.split('\n')[0]}`
  const shown = code === 0 ? {} : { output: output.slice(-3000), caddy: services.log('caddy').slice(-3000) }
  t.equal(code, 0, `${title} (${Math.round((performance.now() - started) / 1000)} s)`, shown)
  if (code !== 0) throw new Error(`a guide does not hold: ${title}`)
  afterStep(services)
  return output
}

/**
 * Does the work of systemd and of the operator after a step: Debian's installation starts Postgres, and an operator
 * adds providers to the settings.
 */
function afterStep(services: Services): void {
  if (existsSync(path.join(server, 'etc/postgresql/17/main'))) services.start('postgresql@17-main')
  if (!existsSync(settingsFile) || readFileSync(settingsFile, 'utf8').includes('PARLEY_PROVIDERS')) return
  appendFileSync(settingsFile, `PARLEY_PROVIDERS='${JSON.stringify(providers)}'\n`)
}

function runToEnd(words: readonly string[]): Promise<{ code: number | null; output: string }> {
  const env = {
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    LANG: 'C.UTF-8',
    DEBIAN_FRONTEND: 'noninteractive',
    ...(process.env['NODE_EXTRA_CA_CERTS'] !== undefined && { NODE_EXTRA_CA_CERTS: '/etc/ssl/machine.crt' }),
    ...(process.env['https_proxy'] !== undefined && { https_proxy: process.env['https_proxy'] }),
  }
  const child = spawn(words[0] as string, words.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: stepMs })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-100_000)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })))
}

/** Serves the machine's `systemctl` command, which sends its arguments to this process. */
function serveSystemctl(services: Services): () => void {
  const listener = createServer((request, response) => {
    let words = ''
    request.on('data', (chunk: Buffer) => (words += chunk.toString()))
    request.on('end', () => {
      services.control(words.split(' ')).then(
        () => response.end(),
        (error: Error) => response.writeHead(500).end(error.message),
      )
    })
  })
  const socket = path.join(server, 'run/systemctl.socket')
  listener.listen(socket)
  const script =
    '#!/bin/sh\nexec curl -sS --fail-with-body --unix-socket /run/systemctl.socket --data "$*" http://systemd/\n'
  writeProgram('server', 'systemctl', script)
  return () => {
    listener.close()
    rmSync(socket, { force: true })
  }
}

function writeProgram(machine: MachineName, name: string, script: string): void {
  const file = path.join(rootOf(machine), 'usr/local/bin', name)
  writeFileSync(file, script)
  chmodSync(file, 0o755)
}

type Messages = { send(message: ToChild): void; next(kind: FromChild['kind']): Promise<FromChild>; end(): void }

function startClient(): Messages {
  const authority = 'var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'
  const words = [
    ...inClientNetwork,
    process.execPath,
    '--import',
    'tsx',
    path.join(import.meta.dirname, 'load-child.ts'),
  ]
  const env = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: path.join(server, authority) }
  const child = spawn(words[0] as string, words.slice(1), {
    cwd: tree,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const received: FromChild[] = []
  let wake = () => {}
  child.on('message', (message: FromChild) => {
    received.push(message)
    wake()
  })
  child.once('exit', () => wake())
  return {
    send: (message) => void child.send(message),
    async next(kind) {
      for (;;) {
        const found = received.find((message) => message.kind === kind)
        if (found) return found
        if (child.exitCode !== null) throw new Error(`the client ended before ${kind}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    end: () => void child.kill(),
  }
}

function check(t: Tap, { requests, failures, streams, sockets }: Result, stopsMs: readonly number[]): void {
  const dismissed = (ends: readonly End[]) => ends.filter(({ how }) => how === 'dismissed')
  const early = (ends: readonly End[]) =>
    ends.filter(({ how, atMs }) => how === 'cut' || sinceStopMs(stopsMs, atMs) < graceMs)
  const tell = (name: string, ends: readonly End[]) =>
    `${ends.length - dismissed(ends).length} ${name} ended by themselves, ${dismissed(ends).length} at the end of a grace`
  t.comment(
    `${requests} requests; ${tell('streams', streams)}; ${tell('sockets', sockets)}; restarts at ${stopsMs.join(', ')}`,
  )
  t.strictSame(failures.slice(0, 20), [], `0 of ${requests} requests failed, and no stream or socket was refused`)
  const notWhole = (ends: readonly End[]) => early(ends.filter(({ how }) => how !== 'whole'))
  t.strictSame(notWhole(streams).slice(0, 5), [], 'no stream was cut before the grace')
  t.strictSame(notWhole(sockets).slice(0, 5), [], 'no socket was cut before the grace')
  t.ok(dismissed(streams).length > 0 && dismissed(sockets).length > 0, 'long ones were ended after the grace')
  t.ok(streams.length > counts.streams && requests > 30 * counts.requestsPerS, 'there was load')
}

/** Returns the nodes' log lines about a stream's request, and Caddy's lines about broken connections. */
function logOf(services: Services, last: string): string {
  const [id = 'no request'] = /req_\w+/.exec(last) ?? []
  const lines = (name: string, wanted: RegExp) =>
    services
      .log(name)
      .split('\n')
      .filter((line) => wanted.test(line))
  const ofNodes = ['parley@8080', 'parley@8081'].flatMap((name) => lines(name, new RegExp(id)))
  return [last, ...ofNodes, ...lines('caddy', /"level":"(error|warn)"/).slice(-10)].join('\n')
}

/** Returns the time from a node's last stop signal to `atMs`. */
function sinceStopMs(stopsMs: readonly number[], atMs: number): number {
  return atMs - Math.max(0, ...stopsMs.filter((stopMs) => stopMs <= atMs))
}

/** Reads each node's version from its metrics. */
async function versions(): Promise<string[]> {
  const read = async (port: number) => {
    const { output } = await runToEnd([...inServerNetwork, 'curl', '-s', `http://127.0.0.1:${port}/metrics`])
    return /parley_build_info\{[^}]*version="([^"]*)"/.exec(output)?.[1] ?? output.slice(0, 200)
  }
  // Step 3 in docs/run-it.md sets these admin ports.
  return [await read(18_080), await read(18_180)]
}

function readVersion(): string {
  return (JSON.parse(readFileSync(path.join(tree, 'package.json'), 'utf8')) as { version: string }).version
}

type Tap = { equal: typeof t.equal; strictSame: typeof t.strictSame; ok: typeof t.ok; comment: typeof t.comment }
