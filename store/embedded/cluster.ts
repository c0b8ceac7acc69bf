/**
 * Finds or makes the cluster in a data folder. A cluster appears whole or not at all: it is made in a temporary folder
 * beside its final folder, with our role and database in it, and then renamed. So the final folder never contains a
 * half-made cluster, even if a start dies half-way or two first starts run at once.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeDataDir, unwritableDataDir } from '../../runtime/process/data-dir.ts'
import { type Account, accountsFor, giveTo, noAccountMessage, setupWrapper, tryPostgres } from './account.ts'
import { type Binaries, findBinaries, linkLibraries } from './binaries.ts'

export type Cluster = {
  /** The data directory (PGDATA). */
  directory: string
  logFile: string
  postgres: string
  major: number
  account: Account
  env: NodeJS.ProcessEnv
}

/** The role owns the database but is not a superuser, because row level security does not bind a superuser. */
export const role = 'parley'
export const database = 'parley'

const majorMin = 15

type Site = { dataDir: string; directory: string }
type Runner = { binaries: Binaries; account: Account; major: number; env: NodeJS.ProcessEnv }

/** Finds or makes a data folder's cluster. Errors name the folder and a remedy. */
export async function openCluster(dataDir: string, progress: (message: string) => void): Promise<Cluster> {
  const site = siteOf(dataDir)
  makeDataDir(site.dataDir)
  if (!hasCluster(dataDir)) await create(site, progress)
  const runner = existingRunner(site)
  return {
    directory: site.directory,
    logFile: join(site.dataDir, 'postgres.log'),
    postgres: join(runner.binaries.directory, 'postgres'),
    major: runner.major,
    account: runner.account,
    env: runner.env,
  }
}

/** Throws if the data folder has no cluster. Makes nothing. */
export function requireCluster(dataDir: string): void {
  if (hasCluster(dataDir)) return
  throw new Error(
    `There is no database in ${dataDir} yet: \`parley up\` or \`parley migrate\` makes it. PARLEY_DATA_DIR names another folder, DATABASE_URL a Postgres of yours.`,
  )
}

/** Throws if this machine has no Postgres programs. */
export function requirePostgres(): void {
  if (findBinaries().next().done) throw noPostgres()
}

const noPostgres = () => new Error(`No Postgres was found: install Postgres ${majorMin} or later, or set DATABASE_URL.`)

/** Returns true if the data folder has a cluster. Throws if the folder belongs to another user. */
export function hasCluster(dataDir: string): boolean {
  const site = siteOf(dataDir)
  checkOwner(site)
  return existsSync(join(site.directory, 'PG_VERSION'))
}

const siteOf = (dataDir: string): Site => ({ dataDir: resolve(dataDir), directory: resolve(dataDir, 'postgres') })

function existingRunner(site: Site): Runner {
  const requiredMajor = Number(readFileSync(join(site.directory, 'PG_VERSION'), 'utf8'))
  return findRunner(site, site.directory, accountsFor(statSync(site.directory)), requiredMajor)
}

/**
 * Throws if the folder belongs to another user. Must run before a search in the folder, because another user's closed
 * folder looks empty.
 */
function checkOwner({ directory }: Site): void {
  const uid = process.geteuid?.() ?? 0
  const owner = existsSync(directory) ? statSync(directory).uid : uid
  if (uid === 0 || owner === uid) return
  throw new Error(
    `The data folder ${directory} belongs to another user (uid ${owner}): start Parley as that user or as root, ` +
      'or choose another folder with PARLEY_DATA_DIR.',
  )
}

/**
 * Finds the first Postgres program and the first account that work together. `requiredMajor` is the data's major
 * version; no other version can read the data.
 */
function findRunner(site: Site, folder: string, accounts: Account[], requiredMajor: number | null): Runner {
  const majors = new Set<number>()
  let first: Binaries | null = null
  for (const binaries of findBinaries()) {
    first ??= binaries
    const env = environment(site.dataDir, binaries)
    for (const account of accounts) {
      if (requiredMajor === null) giveTo(account, folder)
      const major = tryPostgres(account, join(binaries.directory, 'postgres'), folder, env)
      if (major !== null && major >= majorMin && (requiredMajor ?? major) === major)
        return { binaries, account, major, env }
      if (major !== null) majors.add(major)
    }
  }
  if (!first) throw noPostgres()
  if (majors.size === 0) throw new Error(noAccountMessage(join(first.directory, 'postgres'), folder))
  throw new Error(
    `The data in ${site.directory} needs Postgres ${requiredMajor ?? `${majorMin} or later`}, but only ${[...majors].join(', ')} was found: ` +
      'install that version, or set DATABASE_URL.',
  )
}

function environment(dataDir: string, { libraries }: Binaries): NodeJS.ProcessEnv {
  // Messages must be English in every locale, because the supervisor reads some of them.
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }
  return libraries ? { ...env, LD_LIBRARY_PATH: linkLibraries(libraries, join(dataDir, 'postgres-libraries')) } : env
}

async function create(site: Site, progress: (message: string) => void): Promise<void> {
  const draft = makeDraft(site)
  try {
    const runner = findRunner(site, draft, accountsFor(null), null)
    progress(`initialising the database (Postgres ${runner.major})`)
    await initdb(runner, draft)
    await addRoleAndDatabase(runner, draft)
    renameSync(draft, site.directory)
  } catch (error) {
    // Another process has made the cluster meanwhile. This process uses that cluster.
    if (!existsSync(join(site.directory, 'PG_VERSION'))) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function makeDraft(site: Site): string {
  try {
    return mkdtempSync(`${site.directory}.new-`)
  } catch (cause) {
    throw unwritableDataDir(site.dataDir, cause)
  }
}

function initdb({ binaries, account, major, env }: Runner, directory: string): Promise<void> {
  // Postgres's builtin locale provider sorts the same on every machine. With a C library's locale, an update can change
  // the sort order, and existing indexes become wrong.
  const builtin = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-locale']
  const locale = major >= 17 ? builtin : ['--locale=C.UTF-8']
  const args = ['-D', directory, '-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--no-instructions']
  const program = join(binaries.directory, 'initdb')
  return run([...setupWrapper(account), program, ...args, ...locale], '', { account, env, directory })
}

/**
 * Makes our role and database in single-user mode, where each line is a statement. So no server must be started and
 * stopped.
 */
function addRoleAndDatabase({ binaries, account, env }: Runner, directory: string): Promise<void> {
  const statements = `create role ${role} login\ncreate database ${database} owner ${role}\n`
  const program = join(binaries.directory, 'postgres')
  const args = ['--single', '-D', directory, '-c', 'log_min_messages=fatal', 'postgres']
  return run([...setupWrapper(account), program, ...args], statements, { account, env, directory })
}

type Setting = { account: Account; env: NodeJS.ProcessEnv; directory: string }

/** Runs a program with `input`. It runs asynchronously, so that the event loop stays free for other work. */
function run(command: readonly string[], input: string, { account, env, directory }: Setting): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0] as string, command.slice(1), { ...account.drop, env, cwd: directory })
    let output = ''
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-2_000)
    })
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0 && !output.includes('ERROR:')) return resolve()
      reject(
        new Error('The database could not be initialised.', { cause: new Error(output.trim() || `exit ${status}`) }),
      )
    })
    child.stdin.on('error', () => {}) // Ignored: if the program ends early, `close` reports why.
    child.stdin.end(input)
  })
}
