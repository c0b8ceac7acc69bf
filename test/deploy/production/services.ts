/**
 * Starts the server's units in place of systemd, which does not run in a chroot: a unit's ExecStart, with its user, its
 * environment files, its state folder, and a read-only system if the unit says so.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, createWriteStream, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readAssignments, readEnvironmentFile, readSpanS, readUnit, type Unit } from './unit.ts'

const unitFolders = ['etc/systemd/system', 'usr/lib/systemd/system']
/** Units with DynamicUser get user ids from this number on. The ids have no entry in /etc/passwd. */
const dynamicIds = 61_184
const programs = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const defaultStopS = 90

type Running = { child: ChildProcess; unit: Unit; ended: Promise<string> }

export class Services {
  readonly #root: string
  readonly #inNetwork: readonly string[]
  readonly #running = new Map<string, Running>()
  readonly #ids = new Map<string, number>()
  /**
   * Process groups of units whose first process has ended while the server runs on. They are killed at the end of the
   * test.
   */
  readonly #forked = new Set<string>()
  /** The time when each unit got its stop signal. */
  readonly stops: { name: string; atMs: number }[] = []

  /** `inNetwork` has the words that run a command in the server's network. They come before the command. */
  constructor(root: string, inNetwork: readonly string[]) {
    this.#root = root
    this.#inNetwork = inNetwork
  }

  /** Runs a systemctl command line. Throws if a unit does not start or a verb is unknown. */
  async control(words: readonly string[]): Promise<void> {
    const [verb, ...names] = words.filter((word) => !word.startsWith('-'))
    if (verb === 'daemon-reload') return
    for (const name of names) {
      if (verb === 'stop' || verb === 'restart') await this.#stop(name)
      if (verb === 'start' || verb === 'restart' || (verb === 'enable' && words.includes('--now'))) this.start(name)
      if (!['start', 'stop', 'restart', 'enable'].includes(verb ?? '')) throw new Error(`systemctl ${verb}`)
    }
  }

  start(name: string): void {
    if (this.#running.has(name) || this.#forked.has(name)) return
    const unit = this.#read(name)
    const command = (unit.one('ExecStart') ?? '').replace(/^-/, '').split(' ')
    const user = this.#userOf(name, unit)
    const words = [...this.#inNetwork, 'unshare', '--mount', 'chroot', this.#root, 'sh', '-c', script(unit), 'sh']
    const all = [...words, ...user.words, ...command]
    const env = { PATH: programs, ...user.env, ...this.#environmentOf(unit) }
    if (unit.one('Type') === 'forking') {
      runToEnd(name, all, env)
      this.#forked.add(name)
      return
    }
    const child = spawn(all[0] as string, all.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const log = createWriteStream(path.join(this.#root, `../${name}.log`), { flags: 'a' })
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false })
    const ended = new Promise<string>((resolve) =>
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`)),
    )
    this.#running.set(name, { child, unit, ended })
  }

  /** Reads a unit's log, which systemd would write to the journal. */
  log(name: string): string {
    const file = path.join(this.#root, `../${name}.log`)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  /** Kills all running units when the test ends. */
  kill(): void {
    for (const { child } of this.#running.values()) killGroup(child)
  }

  /**
   * Stops a unit as with KillMode=mixed: only the unit's first process gets SIGTERM, and then its remaining processes
   * are killed.
   */
  async #stop(name: string): Promise<void> {
    const running = this.#running.get(name)
    if (running === undefined) return
    this.#running.delete(name)
    this.stops.push({ name, atMs: Date.now() })
    running.child.kill('SIGTERM')
    const killed = setTimeout(() => killGroup(running.child), stopS(running.unit) * 1000)
    const how = await running.ended
    clearTimeout(killed)
    killGroup(running.child)
    // systemd counts exit code 0 and SIGTERM as a success.
    if (how !== 'code 0' && how !== 'SIGTERM')
      throw new Error(`${name} ended with ${how}: ${this.log(name).slice(-2000)}`)
  }

  #read(name: string): Unit {
    const [template = '', instance = ''] = name.split('@')
    const file = instance === '' ? `${template}.service` : `${template}@.service`
    const folder = unitFolders.find((each) => existsSync(path.join(this.#root, each, file)))
    if (folder === undefined) throw new Error(`there is no unit ${file}`)
    const dropIns = path.join(this.#root, 'etc/systemd/system', `${file}.d`)
    const names = existsSync(dropIns) ? readdirSync(dropIns).sort() : []
    const files = [path.join(this.#root, folder, file), ...names.map((each) => path.join(dropIns, each))]
    return readUnit(
      files.map((each) => readFileSync(each, 'utf8')),
      instance,
    )
  }

  #environmentOf(unit: Unit): Record<string, string> {
    const files = unit.all('EnvironmentFile').flatMap((value) => {
      const file = path.join(this.#root, value.replace(/^-/, ''))
      if (value.startsWith('-') && !existsSync(file)) return []
      return [readEnvironmentFile(readFileSync(file, 'utf8'))]
    })
    return Object.assign({}, ...unit.all('Environment').map(readAssignments), ...files) as Record<string, string>
  }

  /** Returns the words to run a program as the unit's user, and makes this user's state folder. */
  #userOf(name: string, unit: Unit): { words: string[]; env: Record<string, string> } {
    const privileges = unit.one('NoNewPrivileges') === 'yes' ? ['--no-new-privs'] : []
    const user = unit.one('User')
    if (unit.one('DynamicUser') === 'yes') {
      const id = this.#ids.get(name) ?? dynamicIds + this.#ids.size
      this.#ids.set(name, id)
      for (const folder of stateFolders(unit)) {
        mkdirSync(path.join(this.#root, folder), { recursive: true })
        chmodSync(path.join(this.#root, folder), 0o700)
        chownSync(path.join(this.#root, folder), id, id)
      }
      const ids = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--bounding-set=-all']
      return { words: ['setpriv', ...ids, ...privileges], env: {} }
    }
    if (user === undefined) return { words: [], env: {} }
    const capabilities = ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service']
    const ids = [`--reuid=${user}`, `--regid=${unit.one('Group') ?? user}`, '--init-groups']
    const passwd = readFileSync(path.join(this.#root, 'etc/passwd'), 'utf8')
    const home = new RegExp(`^${user}:.*:(.*):.*$`, 'm').exec(passwd)?.[1] ?? '/'
    return { words: ['setpriv', ...ids, ...capabilities, ...privileges], env: { HOME: home } }
  }
}

/**
 * Returns a shell script to prepare the unit's environment and then execute the arguments. Existing mounts stay
 * writable.
 */
function script(unit: Unit): string {
  const writable = stateFolders(unit).map((folder) => `mount --bind /${folder} /${folder}`)
  const strict = ['mount -o remount,bind,ro /', '! touch /etc/probe 2>/dev/null']
  const isStrict = unit.one('ProtectSystem') === 'strict'
  const privateTmp = /^(yes|true)$/.test(unit.one('PrivateTmp') ?? '') ? ['mount -t tmpfs tmpfs /tmp'] : []
  const folder = unit.one('WorkingDirectory')
  const steps = [...writable, ...privateTmp, ...(isStrict ? strict : []), `cd ${folder ?? '/'}`]
  // If the machine does not allow this many files, the limit is its maximum.
  const files = `ulimit -n ${unit.one('LimitNOFILE') ?? 1024} 2>/dev/null || ulimit -n "$(ulimit -H -n)"`
  return `{ ${files}; } && ${steps.join(' && ')} && exec "$@"`
}

function stateFolders(unit: Unit): string[] {
  return unit.all('StateDirectory').map((name) => `var/lib/${name}`)
}

function stopS(unit: Unit): number {
  const span = unit.one('TimeoutStopSec')
  return span === undefined ? defaultStopS : readSpanS(span)
}

/** Runs a command to its end. Its output is ignored, because a started server would keep a pipe open. */
function runToEnd(name: string, words: readonly string[], env: Record<string, string>): void {
  const { status } = spawnSync(words[0] as string, words.slice(1), { env, stdio: 'ignore' })
  if (status !== 0) throw new Error(`${name} does not start: ${status}`)
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-(child.pid as number), 'SIGKILL')
  } catch {
    // The kill has failed because no process of the group is left.
  }
}
