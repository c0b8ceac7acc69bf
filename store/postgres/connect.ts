import type postgres from 'postgres'
import type { Log } from '../../domain/ports/system.ts'
import { driver } from './driver.ts'
import { Sockets } from './sockets.ts'

/** int8 is read as a number: money in micro-USD stays exact up to 9 billion dollars. */
export type Sql = postgres.Sql<{ bigint: number }>
export type Tx = postgres.TransactionSql<{ bigint: number }>

export type Target = { databaseUrl: string } | { socketDir: string; role: string; database: string }

export type Pools = {
  /**
   * The pool for batches over all organizations. Two connections cost less CPU than many connections. A commit does not
   * wait for the disk: if Postgres crashes, the last half second may be lost, but if this process crashes, nothing is
   * lost.
   */
  system: Sql
  /** Each transaction is for one organization (tenant.ts) and durable after its commit. */
  tenant: Sql
  /** The sockets of both pools. */
  sockets: Sockets
}

const batchConnections = 2
/**
 * Postgres ends a statement after this time. It also ends a transaction that waits this long for its next statement,
 * because its process may be cut off from the network, and its locks would stay for hours.
 */
export const statementTimeoutMs = 10_000
const postgresMin = 15

/** Opens the connections. `name` marks them in pg_stat_activity. */
export function connect(target: Target, name: string, connectionsMax: number): Pools {
  const sockets = new Sockets()
  return {
    sockets,
    system: pool(target, batchConnections, sockets, {
      application_name: name,
      'app.organization': '*',
      synchronous_commit: 'off',
      // Batches join a handful of rows with a table by its key. With other joins allowed, the planner would read all
      // rows of an organization.
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      enable_seqscan: 'off',
      // The same plan serves each batch, because batches differ only in their arrays' lengths. Planning each batch
      // again would cost more than running it.
      plan_cache_mode: 'force_generic_plan',
      // Turns JIT compilation off: the planner adds a huge cost to a disabled join, so Postgres would compile cheap
      // plans.
      jit: 'off',
    }),
    tenant: pool(target, connectionsMax, sockets, { application_name: name }),
  }
}

/** Opens a separate connection for a single query. The calling code must end it. */
export function connectOnce(target: Target, name: string): Sql {
  return pool(target, 1, new Sockets(), { application_name: name })
}

/**
 * Makes a probe. It resolves if the database answers a trivial statement within `timeoutMs`, on the listening
 * connection or on a new connection. Both are needed: the listening connection may stay silent after a broken network
 * is repaired, and over a long distance a new connection needs several round trips until its first answer.
 */
export function createProbe({ system }: Pick<Pools, 'system'>, target: Target, timeoutMs: number): () => Promise<void> {
  let asking: Promise<unknown> | null = null
  const askListening = (sql: Sql) =>
    (asking ??= sql`select 1`.finally(() => {
      asking = null
    }))
  return () =>
    new Promise((resolve, reject) => {
      const listening = listeningOf(system)
      if (listening !== null) void askListening(listening).then(() => resolve(), ignore)
      askOnce(target, timeoutMs).then(resolve, reject)
    })
}

const ignore = () => {}

/**
 * Returns the pool behind `listen`. The driver makes it at the first `listen` and does not document it. It has one
 * connection, and no slow statement uses it.
 */
function listeningOf(sql: Sql): Sql | null {
  return (sql.listen as unknown as { sql?: Sql }).sql ?? null
}

/** Resolves if the database answers on a new connection within `timeoutMs`. */
async function askOnce(target: Target, timeoutMs: number): Promise<void> {
  const sockets = new Sockets()
  const sql = pool(target, 1, sockets, { application_name: 'probe' })
  const end = async () => {
    await sql.end({ timeout: 0 })
    sockets.destroyAll()
  }
  const timer = setTimeout(() => void end(), timeoutMs)
  try {
    await sql`select 1`
  } finally {
    clearTimeout(timer)
    await end()
  }
}

function pool(target: Target, max: number, sockets: Sockets, parameters: Record<string, string>): Sql {
  const options = {
    max,
    socket: sockets.add,
    // The driver's default waits up to 20 s between attempts, so the store could stay unreachable for 15 s after
    // Postgres is back.
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 0.5),
    connect_timeout: 2,
    // Our statements send JSON and no arrays, so the driver need not read the array types on each connection.
    fetch_types: false,
    connection: {
      ...parameters,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
    },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    onnotice: () => {},
  }
  if ('socketDir' in target) {
    return driver({ ...options, host: target.socketDir, user: target.role, database: target.database })
  }
  const { url, host } = parseUrl(target.databaseUrl)
  return driver(url, host === null ? options : { ...options, host })
}

/**
 * The accepted words for sslmode. Without an sslmode the connection has no TLS. The driver does not support verify-ca,
 * but for any unknown word it checks the certificate.
 */
const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
const filesOfLibpq = ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl']

/**
 * Reads DATABASE_URL. Also accepts a Unix socket like libpq: postgres:///database?host=/folder. The error message
 * leaves the URL out, because the URL contains a password.
 */
function parseUrl(text: string): { url: string; host: string | null } {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:') {
    throw new Error('DATABASE_URL must look like postgres://user:password@host:5432/database.')
  }
  const file = filesOfLibpq.find((name) => url.searchParams.has(name))
  if (file !== undefined)
    throw new Error(
      `DATABASE_URL has ${file}, which only programs with libpq read. Name the certificate of the authority in NODE_EXTRA_CA_CERTS.`,
    )
  const mode = url.searchParams.get('sslmode')
  if (mode !== null && !tlsModes.includes(mode))
    throw new Error(`DATABASE_URL has another sslmode than ${tlsModes.join(', ')}.`)
  const host = url.searchParams.get('host')
  url.searchParams.delete('host')
  // An `application_name` in the URL would replace ours, but instances find one another by it (instances.ts).
  url.searchParams.delete('application_name')
  return { url: url.href, host }
}

/** Checks the Postgres server. Throws if the server cannot be reached or is too old. */
export async function checkServer(sql: Sql, target: Target, log: Log): Promise<void> {
  const [server] = await describe(sql, target)
  if (!server || server.version < postgresMin * 10_000) {
    const version = Math.floor((server?.version ?? 0) / 10_000)
    throw new Error(`The database is Postgres ${version}; Parley needs Postgres ${postgresMin} or later.`)
  }
  if (server.unbound) log.warn({}, `${unboundRole}: use one that owns the database instead`)
}

export const unboundRole = 'the database role is a superuser or bypasses row level security'

/** Returns true if row level security does not bind this connection's role. */
export async function isUnbound(sql: Sql, target: Target): Promise<boolean> {
  const [server] = await describe(sql, target)
  return server?.unbound === true
}

async function describe(sql: Sql, target: Target): Promise<{ version: number; unbound: boolean }[]> {
  try {
    return await sql<{ version: number; unbound: boolean }[]>`
      select current_setting('server_version_num')::int as version, rolsuper or rolbypassrls as unbound
      from pg_roles where rolname = current_user`
  } catch (cause) {
    const code = (cause as { code?: string }).code ?? 'unknown'
    throw new Error(`The database at ${placeOf(target)} cannot be used: ${reasons[code] ?? otherwise} (${code}).`, {
      cause,
    })
  }
}

/** Returns host and port, or the socket's folder, for messages. Never includes the user or the password. */
function placeOf(target: Target): string {
  if ('socketDir' in target) return target.socketDir
  const { url, host } = parseUrl(target.databaseUrl)
  return host ?? new URL(url).host
}

const otherwise = 'check DATABASE_URL and that Postgres accepts connections'
const unknownAuthority =
  'its certificate is of an authority that is not known here; name the file of that authority in NODE_EXTRA_CA_CERTS'
const unknownHost = 'no host has that name; check DATABASE_URL'

/** The explanation for each error code, from the socket or an SQLSTATE. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there; start Postgres, or correct DATABASE_URL',
  ENOENT: 'no server has its socket there; start Postgres, or correct DATABASE_URL',
  CONNECT_TIMEOUT: 'it does not answer in time; check DATABASE_URL, the network and that Postgres runs',
  ETIMEDOUT: 'it does not answer in time; check DATABASE_URL, the network and that Postgres runs',
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host; name that host in DATABASE_URL',
  '28P01': 'it refuses the user or the password in DATABASE_URL',
  '28000':
    'it does not let this user in from here: see its pg_hba.conf, and add ?sslmode=require to DATABASE_URL if it wants TLS',
  '3D000': 'the database that DATABASE_URL names does not exist there; create it first',
  '42501': 'the user in DATABASE_URL lacks a permission',
  '53300': 'it has no connection left; raise its max_connections, or lower store.connectionsMax',
  '57P03': 'it is starting up; try again in a moment',
}
