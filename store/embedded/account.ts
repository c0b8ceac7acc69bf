/**
 * Postgres refuses to run as root, and an account to drop to is only usable if it can read the programs and enter
 * the data folder. Whether it can depends on every folder above both, so modes decide nothing: each account is
 * tried.
 */
import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'

export type Account = {
  name: string
  /** The owner of the files. */
  uid: number
  /** Options for spawn. Empty: the account of this process. */
  drop: { uid?: number; gid?: number }
  /** A command in front of every program. */
  wrapper: readonly string[]
}

/**
 * Inside a user namespace Postgres sees this process as `nobody`, while the kernel goes on treating the files as
 * its. It serves root below a 0700 folder, and a uid without a passwd row (`docker run --user 12345`), which initdb
 * refuses to work for. Some container profiles forbid it.
 */
const namespace = ['unshare', '--user', '--map-user=65534', '--map-group=65534']

/** Accounts that may own a new cluster, or the one account that owns an existing one. */
export function accountsFor(owner: { uid: number; gid: number } | null): Account[] {
  const uid = process.geteuid?.() ?? 0
  const own: Account = { name: 'this account', uid, drop: {}, wrapper: [] }
  if (uid !== 0) return [own]
  const inNamespace: Account = { ...own, name: 'root in a user namespace', wrapper: namespace }
  if (owner) return owner.uid === 0 ? [inNamespace] : [dropTo(`uid ${owner.uid}`, owner)]
  return [...passwdRows('postgres'), ...passwdRows('nobody'), inNamespace]
}

/**
 * The major version of Postgres that runs for the account in the folder, or null when it does not run or the folder
 * is closed to it.
 */
export function tryPostgres(account: Account, postgres: string, folder: string, env: NodeJS.ProcessEnv): number | null {
  const script = 'cd "$1" && test -w . && exec "$2" --version'
  const [command, ...args] = [...account.wrapper, '/bin/sh', '-c', script, 'sh', folder, postgres]
  const { stdout } = spawnSync(command, args, { ...account.drop, env, encoding: 'utf8', timeout: 10_000 })
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1]
  return major === undefined ? null : Number(major)
}

/** initdb and single-user mode look up their user by uid; the server does not. */
export function setupWrapper(account: Account): readonly string[] {
  if (account.wrapper.length > 0 || account.drop.uid !== undefined) return account.wrapper
  try {
    userInfo()
    return []
  } catch {
    return namespace
  }
}

export function giveTo(account: Account, folder: string): void {
  if (process.geteuid?.() === 0) chownSync(folder, account.uid, account.drop.gid ?? 0)
}

/** The message when no account works: it names the folder that blocks the way and the two remedies. */
export function noAccountMessage(postgres: string, folder: string): string {
  const closed = closedFolder(folder) ?? closedFolder(dirname(postgres)) ?? folder
  return (
    `The embedded Postgres cannot run: it must not run as root, and no other account can use ${closed}. ` +
    'Start Parley as a normal user, or set DATABASE_URL to a Postgres 15 or later.'
  )
}

/** The topmost folder of the path that other accounts may not pass. */
function closedFolder(folder: string): string | null {
  const parent = dirname(folder)
  const above = parent === folder ? null : closedFolder(parent)
  return above ?? ((statSync(folder).mode & 0o001) === 0 ? folder : null)
}

function passwdRows(name: string): Account[] {
  const rows = readFileSync(join('/etc', 'passwd'), 'utf8').split('\n')
  const fields = rows.map((row) => row.split(':')).find(([user]) => user === name)
  return fields ? [dropTo(name, { uid: Number(fields[2]), gid: Number(fields[3]) })] : []
}

function dropTo(name: string, { uid, gid }: { uid: number; gid: number }): Account {
  return { name, uid, drop: { uid, gid }, wrapper: [] }
}
