/** The databases for a test file. Each is a copy of a migrated database, in the run's Postgres or in a separate one. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { t as root } from 'tap'
import type { Log } from '../../domain/ports/system.ts'
import { readStoredPolicy } from '../../handlers/key-policy.ts'
import { systemClock, systemIds } from '../../runtime/timing/clock.ts'
import { type KeyChange, notifyKeyChange } from '../../store/caches/key-changes.ts'
import { type EmbeddedPostgres, startEmbedded } from '../../store/embedded/supervisor.ts'
import { migrate } from '../../store/migrations/migrate.ts'
import { connectOnce, type Tx } from '../../store/postgres/connect.ts'
import { openStore, type Store, type StoreOptions } from '../../store/store.ts'
import { copyCluster } from './prepared-cluster.ts'

export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }

/** Other accounts may pass through this folder, because root's data folder requires it. */
export function temporaryFolder(mode = 0o711): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-'))
  chmodSync(folder, mode)
  return folder
}

export const defaults: Omit<StoreOptions, 'databaseUrl' | 'dataDir'> = {
  progress: () => {},
  log: silent,
  clock: systemClock,
  newId: systemIds.session,
  events: null,
  serves: true,
  prepares: true,
  readPolicy: readStoredPolicy,
  connectionsMax: 2,
  redisUrl: null,
  idempotency: { leaseMs: 10_000, retentionMs: 86_400_000 },
  masterKeys: () => ({ current: 'm'.repeat(32), previous: [] }),
  choiceRetentionMs: 86_400_000,
  retention: {
    requestsDays: null,
    callsDays: null,
    eventsDays: null,
    deliveriesDays: 30,
    messageTextsDays: null,
    auditDays: null,
  },
  keyCacheMs: 30_000,
  keyCacheMax: 1_000,
  keysKeptMs: 900_000,
  deadlineMs: 1_000,
  journalBytesMax: 67_108_864,
}

type Test = { teardown(run: () => unknown): void }

/** Stores and connections are closed with the test that opened them. */
export class TestCluster {
  readonly folder: string
  readonly socketDir: string
  /** Superuser connection: row level security hides nothing from it. */
  readonly admin: postgres.Sql
  readonly #made: string[] = []
  readonly #stopServer: () => Promise<void>

  private constructor(folder: string, socketDir: string, stopServer: () => Promise<void>) {
    this.folder = folder
    this.socketDir = socketDir
    this.#stopServer = stopServer
    this.admin = postgres({ host: socketDir, user: 'postgres', database: 'postgres', max: 2, onnotice: () => {} })
  }

  /** Makes databases in the Postgres for all tests in this process. */
  static async start(): Promise<TestCluster> {
    return new TestCluster(temporaryFolder(), await postgresOfProcess(), () => Promise.resolve())
  }

  /** A Postgres for this file only. The file may stop it, kill it or set it up differently. */
  static async startOwn(): Promise<TestCluster & { server: EmbeddedPostgres }> {
    const { folder, server } = await startServer()
    return Object.assign(new TestCluster(folder, server.socketDir, () => server.stop()), { server })
  }

  /** DATABASE_URL for a new database: migrated, or without any table. */
  async database(kind: 'migrated' | 'empty' = 'migrated'): Promise<string> {
    const name = `test_${randomBytes(8).toString('hex')}`
    const template = kind === 'migrated' ? 'parley' : 'template0'
    // Postgres copies the files, which takes half the processor time of its usual way, a log record for each page.
    await this.admin.unsafe(`create database ${name} template ${template} owner parley strategy file_copy`)
    this.#made.push(name)
    return `postgres://parley@localhost/${name}?host=${encodeURIComponent(this.socketDir)}`
  }

  async store(test: Test, databaseUrl: string, options: Partial<StoreOptions> = {}): Promise<Store> {
    const store = await openStore({ ...defaults, databaseUrl, dataDir: this.folder, ...options })
    test.teardown(() => store.close({ stopPostgres: false }))
    return store
  }

  /** A superuser's connection to a database. */
  sql(test: Test, databaseUrl: string): postgres.Sql<{ bigint: number }> {
    const database = new URL(databaseUrl).pathname.slice(1)
    const types = { bigint: { to: 20, from: [20], serialize: String, parse: Number } }
    const sql = postgres({ host: this.socketDir, user: 'postgres', database, types, max: 1, onnotice: () => {} })
    test.teardown(() => sql.end({ timeout: 1 }))
    return sql
  }

  async stop(): Promise<void> {
    for (const name of this.#made) await this.admin.unsafe(`drop database if exists ${name} with (force)`)
    await this.admin.end({ timeout: 1 })
    await this.#stopServer()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

let shared: Promise<string> | null = null

/**
 * Returns the folder with the socket of Postgres. Without a test runner, a Postgres starts and ends with this process.
 */
function postgresOfProcess(): Promise<string> {
  shared ??= startShared()
  return shared
}

async function startShared(): Promise<string> {
  const ofRun = process.env['PARLEY_TEST_POSTGRES']
  if (ofRun !== undefined) return ofRun
  const { folder, server } = await startServer()
  root.teardown(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return server.socketDir
}

async function startServer(): Promise<{ folder: string; server: EmbeddedPostgres }> {
  const folder = temporaryFolder()
  await copyCluster(folder)
  const server = await startEmbedded({ ...defaults, dataDir: folder })
  const sql = connectOnce({ socketDir: server.socketDir, role: 'parley', database: 'parley' }, 'template')
  await migrate(sql, () => {})
  await sql.end()
  return { folder, server }
}

const settings = { maxConcurrency: null, smsEnabled: false, rmsgEnabled: false, recordingEnabled: false }

export function organization(store: Store, name: string, creditMicroUsd = 0) {
  return store.organizations.create({ ...settings, name, creditMicroUsd })
}

/**
 * Makes a change for which the product has no function yet: the row and the notification of every instance, in one
 * transaction.
 */
export async function changeRow(
  sql: postgres.Sql<{ bigint: number }>,
  write: (tx: Tx) => Promise<unknown>,
  change: KeyChange,
): Promise<void> {
  await sql.begin(async (tx) => {
    await write(tx)
    await notifyKeyChange(tx, change)
  })
}
