/**
 * Starts nginx and Caddy as Debian packages them, on 127.0.0.1, with the configurations in deploy/proxies. Only the
 * ports are replaced, and nginx has TLS if a test requires it. All files are in a temporary folder. If a program is
 * missing, the test is skipped and does not fail.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import os from 'node:os'
import path from 'node:path'
import { findProgram, missingProgram } from '../process/debian-program.ts'
import { freePort, until } from '../process/machine.ts'

export type ProxyName = 'nginx' | 'caddy'
/** `failures` returns log lines about upstream servers that did not answer. `certificate` is set with TLS. */
export type Proxy = { url: string; certificate?: string; failures(): string[]; stop(): Promise<void> }
/** `port` fixes the proxy's port. `tls` gives nginx TLS as in the sample configuration. */
type Options = { port?: number; tls?: boolean }

const packages: Record<ProxyName, string> = { nginx: 'nginx-light', caddy: 'caddy' }
const samples = path.resolve(import.meta.dirname, '../../deploy/proxies')

/** Returns false if the program exists or could be installed, else the reason to skip the test. */
export function missing(name: ProxyName): Promise<string | false> {
  return missingProgram(name, packages[name])
}

/** Starts the proxy. Rejects with the proxy's output if it does not serve. */
export async function startProxy(
  name: ProxyName,
  upstreams: readonly string[],
  { port = 0, tls = false }: Options = {},
): Promise<Proxy> {
  const folder = mkdtempSync(path.join(os.tmpdir(), `parley-${name}-`))
  const own = port === 0 ? await freePort() : port
  const certificate = tls ? makeCertificate(folder) : undefined
  const { args, env } = name === 'nginx' ? nginx(folder, own, upstreams, tls) : caddy(folder, own, upstreams)
  const child = spawn(findProgram(name) ?? name, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const url = `http${tls ? 's' : ''}://127.0.0.1:${own}`
  const stop = () => end(child, folder)
  try {
    await until(`${name} serves`, async () => (await statusOf(`${url}/healthz`, certificate)) === 200)
  } catch (cause) {
    await stop()
    throw new Error(`${name} does not serve: ${output}`, { cause })
  }
  const failures = () => output.split('\n').filter((line) => /\[error\]|"level":"(error|warn)"/.test(line))
  return { url, failures, stop, ...(certificate !== undefined && { certificate }) }
}

/** Returns the status at the address. Null if nothing answers. */
function statusOf(url: string, certificate: string | undefined): Promise<number | null> {
  return new Promise((resolve) => {
    const answered = (response: http.IncomingMessage) => {
      response.resume()
      resolve(response.statusCode ?? null)
    }
    const request = certificate === undefined ? http.get(url, answered) : https.get(url, { ca: certificate }, answered)
    request.on('error', () => resolve(null))
  })
}

type Command = { args: string[]; env: NodeJS.ProcessEnv }

function nginx(folder: string, port: number, upstreams: readonly string[], tls: boolean): Command {
  const sample = readFileSync(path.join(samples, 'nginx.conf'), 'utf8')
  const [line = ''] = /^ *server 127.*max_fails.*$/m.exec(sample) ?? []
  const hosts = upstreams.map((upstream) => new URL(upstream).host)
  const servers = hosts.map((host) => line.replace('127.0.0.1:8080', host))
  const site = sample
    .replace(/(^ *server 127.*max_fails.*\n)+/m, `${servers.join('\n')}\n`)
    .replaceAll('127.0.0.1:8080', hosts[0] as string)
    .replaceAll('127.0.0.1:8081', hosts[1] ?? (hosts[0] as string))
    // Removes the server for port 80: it only redirects clients to the TLS server.
    .replace(/^server \{\n *listen 80;[^}]*\}\n/m, '')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port}${tls ? ' ssl' : ''};`)
    .replaceAll('/etc/ssl/voice.example.com', folder)
    .replaceAll(/^ *ssl_.*\n/gm, (directive) => (tls ? directive : ''))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].filter((kind) => nginxHas(kind))
  const main = [
    // The user in Debian's package cannot write to the test's folder.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    `pid ${folder}/nginx.pid;`,
    'worker_processes 1;',
    'events { worker_connections 4096; }',
    'http {',
    'access_log off;',
    ...temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`),
    site,
    '}',
  ]
  writeFileSync(path.join(folder, 'nginx.conf'), main.join('\n'))
  const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf'), '-e', 'stderr']
  return { args, env: { PATH: process.env['PATH'] } }
}

/** Makes a self-signed certificate for 127.0.0.1. Returns its text. */
function makeCertificate(folder: string): string {
  const files = ['-keyout', path.join(folder, 'privkey.pem'), '-out', path.join(folder, 'fullchain.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, ...files, ...subject], { stdio: 'ignore' })
  return readFileSync(path.join(folder, 'fullchain.pem'), 'utf8')
}

/** Returns true if this nginx has the module, because nginx refuses a directive whose module is missing. */
function nginxHas(kind: string): boolean {
  const version = execFileSync('sh', ['-c', `${findProgram('nginx')} -V 2>&1`]).toString()
  return !version.includes(`--without-http_${kind}_module`)
}

function caddy(folder: string, port: number, upstreams: readonly string[]): Command {
  const sample = readFileSync(path.join(samples, 'Caddyfile'), 'utf8')
  const file = path.join(folder, 'Caddyfile')
  // With h2c the tests use HTTP/2 without TLS, so they need no certificate.
  const options = 'admin off\n\tdefault_bind 127.0.0.1\n\tservers {\n\t\tprotocols h1 h2 h2c\n\t}'
  writeFileSync(file, `{\n\t${options}\n}\n${sample}`)
  const [first = '', second = ''] = upstreams.map((upstream) => new URL(upstream).host)
  const variables = { SITE: `http://127.0.0.1:${port}`, NODE_1: first, NODE_2: second }
  const folders = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const args = ['run', '--adapter', 'caddyfile', '--config', file]
  return { args, env: { PATH: process.env['PATH'], ...folders, ...variables } }
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    // Caddy waits for open connections before it ends, so it is killed after 2 s.
    const timer = setTimeout(() => child.kill('SIGKILL'), 2000)
    await ended
    clearTimeout(timer)
  }
  rmSync(folder, { recursive: true, force: true })
}
