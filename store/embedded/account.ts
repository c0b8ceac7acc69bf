/**
 * Finds an account to run Postgres. Postgres refuses to run as root, so root must drop to another account. The account
 * must be able to read the programs and to enter the data folder. This depends on every parent folder, so each account
 * is tried instead of checking folder modes.
 */
import { spawnSync } from 'node:child_process'
import { chownSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'

export type Account = {
  name: string
  /** The user id that owns the files. */
  uid: number
  /** Options for spawn. Empty: Postgres runs as this process's account. */
  drop: { uid?: number; gid?: number }
  /** A program and its options to put before every command, for example `unshare`. */
  wrapper: readonly string[]
}

/**
 * Runs Postgres in a user namespace, where it sees this process as `nobody`, while for the kernel the process still
 * owns its files. Root needs this below a folder with mode 0700. A uid without a passwd row (`docker run --user 12345`)
 * needs it too, because initdb refuses such a uid. Some container profiles forbid namespaces.
 */
const namespace = ['unshare', '--user', '--map-user=65534', '--map-group=65534']

/** Lists the accounts to try: all possible accounts for a new cluster, or the owner of an existing cluster. */
export function accountsFor(owner: { uid: number; gid: number } | null): Account[] {
  const uid = process.geteuid?.() ?? 0
  const own: Account = { name: 'this account', uid, drop: {}, wrapper: [] }
  if (uid !== 0) return [own]
  const inNamespace: Account = { ...own, name: 'root in a user namespace', wrapper: namespace }
  if (owner) return owner.uid === 0 ? [inNamespace] : [dropTo(`uid ${owner.uid}`, owner)]
  return [...passwdRows('postgres'), ...passwdRows('nobody'), inNamespace]
}

/**
 * Runs Postgres as the account in the folder and returns its major version. Null if Postgres does not run, or if the
 * account cannot enter or write the folder.
 */
export function tryPostgres(account: Account, postgres: string, folder: string, env: NodeJS.ProcessEnv): number | null {
  const script = 'cd "$1" && test -w . && exec "$2" --version'
  const [command, ...args] = [...account.wrapper, '/bin/sh', '-c', script, 'sh', folder, postgres]
  const { stdout } = spawnSync(command, args, { ...account.drop, env, encoding: 'utf8', timeout: 10_000 })
  const major = /\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1]
  return major === undefined ? null : Number(major)
}

/**
 * Returns the program to put before initdb and before Postgres in single-user mode: both need a passwd row for their
 * uid. The server does not need a row.
 */
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

/** The message if no account works: it names the closed folder and the two remedies. */
export function noAccountMessage(postgres: string, folder: string): string {
  const closed = closedFolder(folder) ?? closedFolder(dirname(postgres)) ?? folder
  return (
    `The embedded Postgres cannot run: it must not run as root, and no other account can use ${closed}. ` +
    'Start Parley as a normal user, or set DATABASE_URL to a Postgres 15 or later.'
  )
}

/** Returns the topmost folder in the path that other accounts cannot enter, or null. */
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
