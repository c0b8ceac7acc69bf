import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { systemClock } from '../../runtime/timing/clock.ts'
import { isAlive } from '../../store/embedded/postmaster.ts'
import { startEmbedded } from '../../store/embedded/supervisor.ts'
import { openStore } from '../../store/store.ts'
import { until } from '../process/machine.ts'
import { defaults, silent, temporaryFolder } from './cluster.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'
import { killed, spawned } from './spawned.ts'

const isRoot = process.geteuid?.() === 0
/** Only root can become another user. */
const skip = isRoot ? false : 'needs root, to run the server as another user'
const key = 'sk_live_an_operator_brought_this_one'

function folderFor(test: { teardown(run: () => void): void }, mode?: number): string {
  const folder = temporaryFolder(mode)
  test.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Copies a prepared cluster, because making one takes most of a second and a copy is enough for most tests. */
async function initialised(test: { teardown(run: () => void): void }, mode?: number): Promise<string> {
  const dataDir = folderFor(test, mode)
  execFileSync('cp', ['-a', `${await prepared()}/.`, dataDir])
  return dataDir
}

let preparation: Promise<string> | null = null
function prepared(): Promise<string> {
  preparation ??= (async () => {
    const dataDir = folderFor(t)
    const store = await open(dataDir)
    await store.close({ stopPostgres: true })
    return dataDir
  })()
  return preparation
}

const settlement = {
  row: ledgerRow('org_1', 'req_1'),
  choice: choiceIn('en'),
  status: 'failed' as const,
  reservedMicroUsd: 0,
}

const open = (dataDir: string, messages: string[] = []) =>
  openStore({ ...defaults, databaseUrl: null, dataDir, progress: (message) => messages.push(message) })

const serverPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])

t.test('the first start creates the cluster, the second start reuses it, and stop leaves no process', async (t) => {
  const dataDir = join(folderFor(t), 'data')
  const messages: string[] = []
  const first = await open(dataDir, messages)
  t.match(messages[0], /^initialising the database \(Postgres \d+\)$/)
  t.equal(await first.organizations.bootstrap({ key }), 'created')
  const pid = serverPid(dataDir)
  t.ok(isAlive(pid))
  await first.close({ stopPostgres: true })
  t.notOk(isAlive(pid))
  t.notOk(existsSync(join(dataDir, 'postgres', 'postmaster.pid')))

  const startedMs = performance.now()
  const second = await open(dataDir)
  t.comment(`second start ${Math.round(performance.now() - startedMs)} ms`)
  t.equal(await second.organizations.bootstrap({ key }), 'known')
  await second.close({ stopPostgres: true })
  t.same(
    readdirSync(dataDir).filter((name) => name.startsWith('postgres.new')),
    [],
  )
})

t.test('Postgres listens only on a Unix socket in a private folder, and on no IP address', async (t) => {
  const dataDir = await initialised(t)
  const store = await open(dataDir)
  const lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  const socketDir = lines[4] ?? ''
  t.equal(statSync(socketDir).mode & 0o777, 0o700)
  t.ok(socketDir.length < 90, 'a socket path has at most 107 bytes')
  t.equal(lines[5]?.trim(), '', 'no address')
  await store.close({ stopPostgres: true })
  t.notOk(existsSync(socketDir))
})

t.test('the links to the libraries of the Postgres package are created in the data folder', async (t) => {
  const dataDir = await initialised(t)
  const store = await open(dataDir)
  await store.close({ stopPostgres: true })
  const links = join(dataDir, 'postgres-libraries')
  if (!existsSync(links)) return t.comment('an installed Postgres brings its own libraries')
  t.ok(lstatSync(join(links, 'libpq.so.5')).isSymbolicLink())
})

t.test('after kill -9 of the process the next start adopts its Postgres, and nothing is lost', async (t) => {
  const dataDir = await initialised(t)
  const before = await spawned([dataDir, '', 'open'], 'ready')
  const pid = serverPid(dataDir)
  await killed(before)
  t.ok(isAlive(pid), 'the server lives on')
  const messages: string[] = []
  const store = await open(dataDir, messages)
  t.match(messages, [`using the Postgres that is already running (pid ${pid})`])
  await store.ping()
  await store.close({ stopPostgres: true })
  t.notOk(isAlive(pid), 'an adopted server is stopped like one of our own')
})

t.test('a Postgres that is just being killed is not adopted by the next start', async (t) => {
  const dataDir = await initialised(t)
  const socketDir = join(folderFor(t), 'sockets')
  mkdirSync(socketDir, { mode: 0o700 })
  // Imitates a Postgres server in its last moment: the process is called postgres and runs, but its socket does not
  // answer.
  writeFileSync(join(socketDir, '.s.PGSQL.5432'), '')
  symlinkSync('/bin/sleep', join(socketDir, 'postgres'))
  const dying = spawn(join(socketDir, 'postgres'), ['60'], { stdio: 'ignore' })
  t.teardown(() => dying.kill())
  const lines = [dying.pid, join(dataDir, 'postgres'), '1764000000', '5432', socketDir, '', '', 'ready']
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${lines.join('\n')}\n`)
  const opening = open(dataDir)
  const seen = await Promise.race([
    opening.then(() => 'open'),
    new Promise((resolve) => setTimeout(resolve, 300, 'waits')),
  ])
  t.equal(seen, 'waits')
  dying.kill('SIGKILL')
  const store = await opening
  t.not(serverPid(dataDir), dying.pid)
  await store.close({ stopPostgres: true })
})

t.test('after kill -9 of the process and of Postgres the next start recovers the data', async (t) => {
  const dataDir = await initialised(t)
  const before = await spawned([dataDir, '', 'open'], 'ready')
  const pid = serverPid(dataDir)
  await killed(before)
  process.kill(pid, 'SIGKILL')
  const store = await open(dataDir)
  t.not(serverPid(dataDir), pid)
  await store.close({ stopPostgres: true })
})

t.test('if Postgres dies, it is started again, and the store goes on', async (t) => {
  const dataDir = await initialised(t)
  const store = await open(dataDir)
  await store.organizations.bootstrap({ key })
  const pid = serverPid(dataDir)
  const startedMs = performance.now()
  process.kill(pid, 'SIGKILL')
  await until('Postgres has ended', () => !isAlive(pid))
  await t.rejects(store.ping(), 'while it is away the store says so')
  const written = settled(store, settlement)
  await until('Postgres is back', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  )
  t.comment(`back after ${Math.round(performance.now() - startedMs)} ms`)
  t.ok(await store.keys.verify(key))
  await t.resolves(written, 'what was done is written down when it is back')
  const again = serverPid(dataDir)
  await store.close({ stopPostgres: true })
  t.notOk(isAlive(again))
})

t.test('a lock file whose process id now belongs to another program does not prevent a start', async (t) => {
  const dataDir = await initialised(t)
  const store = await open(dataDir)
  const lock = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')
  await store.close({ stopPostgres: true })
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), lock.replace(/^\d+/, String(process.pid)))
  const again = await open(dataDir)
  t.not(serverPid(dataDir), process.pid)
  await again.close({ stopPostgres: true })
})

t.test('if a running Postgres has lost its lock file, the error names the command that stops it', async (t) => {
  const dataDir = await initialised(t)
  const owner = await spawned([dataDir, '', 'open'], 'ready')
  const pid = serverPid(dataDir)
  t.teardown(() => process.kill(pid, 'SIGQUIT'))
  await killed(owner)
  rmSync(join(dataDir, 'postgres', 'postmaster.pid'))
  // The store waits 15 s for a lock, so this clock runs twenty times as fast.
  const hasty = {
    ...defaults.clock,
    monotonicMs: () => performance.now() * 20,
    after: (delayMs: number, run: () => void) => defaults.clock.after(delayMs / 20, run),
  }
  await t.rejects(startEmbedded({ ...defaults, clock: hasty, dataDir }), new RegExp(`"kill -INT ${pid}"`))
})

t.test('of several processes on one data folder, the last one to close stops Postgres', async (t) => {
  const dataDir = await initialised(t)
  const [store, other] = await Promise.all([open(dataDir), spawned([dataDir, '', 'open'], 'ready')])
  const pid = serverPid(dataDir)
  await store.close({ stopPostgres: true })
  t.ok(isAlive(pid), 'in use')
  await killed(other)
  const last = await spawned([dataDir, '', 'stop'], 'stopped')
  await last.ended
  t.notOk(isAlive(pid))
})

t.test('two processes that start at once on a new folder share one Postgres', async (t) => {
  const dataDir = folderFor(t)
  const both = await Promise.all([spawned([dataDir, '', 'open'], 'ready'), spawned([dataDir, '', 'open'], 'ready')])
  const store = await open(dataDir)
  await Promise.all(both.map(killed))
  await store.close({ stopPostgres: true })
  t.same(
    readdirSync(dataDir).filter((name) => name.startsWith('postgres.new')),
    [],
    'the slower one threw its own away',
  )
})

t.test('a start that fails stops the Postgres that it has started', async (t) => {
  const dataDir = await initialised(t)
  const server = await startEmbedded({ ...defaults, dataDir })
  t.teardown(() => server.stop())
  const sql = postgres({ host: server.socketDir, user: 'parley', database: 'parley', max: 1, onnotice: () => {} })
  await sql`insert into parley_migrations values (999, 'from the future')`
  await sql.end()
  await server.stop()
  await t.rejects(open(dataDir), /made by a newer Parley \(schema 999/)
  t.notOk(existsSync(join(dataDir, 'postgres', 'postmaster.pid')))
})

t.test('as root, Postgres runs in a user namespace if its folder is below a private folder', { skip }, async (t) => {
  const closed = folderFor(t, 0o700)
  const dataDir = join(closed, 'data')
  const store = await open(dataDir)
  t.equal(statSync(join(dataDir, 'postgres')).uid, 0)
  await store.close({ stopPostgres: true })
  const again = await open(dataDir)
  await again.close({ stopPostgres: true })
})

t.test(
  "as root, if the data folder's owner cannot open the folder, the error names two remedies",
  { skip },
  async (t) => {
    const folder = folderFor(t)
    const dataDir = join(folder, 'data')
    const store = await open(dataDir)
    await store.close({ stopPostgres: true })
    chmodSync(folder, 0o700)
    await t.rejects(open(dataDir), {
      message: new RegExp(`no other account can use ${folder}\\. Start Parley as a normal user, or set DATABASE_URL`),
    })
  },
)

t.test('Postgres starts for a normal user, and for root if a normal user owns the data', { skip }, async (t) => {
  const nobody = { uid: 65534, gid: 65534, env: { PATH: process.env['PATH'] } }
  const parent = folderFor(t)
  chmodSync(parent, 0o777)

  await t.test('as a normal user Postgres serves and stops', async (t) => {
    const { ended } = await spawned([join(parent, 'own'), '', 'stop'], 'stopped', nobody)
    await ended
    t.equal(statSync(join(parent, 'own', 'postgres')).uid, 65534)
  })
  await t.test('Postgres serves a user whose id is not in /etc/passwd', async () => {
    const { ended } = await spawned([join(parent, 'rowless'), '', 'stop'], 'stopped', {
      ...nobody,
      uid: 54321,
      gid: 54321,
    })
    await ended
  })
  await t.test('if a normal user cannot write the data folder, the error names the folder', async (t) => {
    const readOnly = join(parent, 'read-only')
    mkdirSync(readOnly, { mode: 0o755 })
    await t.rejects(
      spawned([readOnly, '', 'open'], 'ready', nobody),
      /The data folder .*read-only cannot be written: make it writable/,
    )
  })
  await t.test('if the data folder belongs to another user, the error names the folder', async (t) => {
    const theirs = join(parent, 'theirs')
    const { ended } = await spawned([theirs, '', 'stop'], 'stopped', nobody)
    await ended
    chmodSync(theirs, 0o777)
    await t.rejects(
      spawned([theirs, '', 'open'], 'ready', { ...nobody, uid: 54321, gid: 54321 }),
      /theirs\/postgres belongs to another user \(uid 65534\)/,
    )
  })
  await t.test("as root, Postgres serves a normal user's data as that user", async (t) => {
    const store = await open(join(parent, 'own'))
    t.equal(statSync(`/proc/${serverPid(join(parent, 'own'))}`).uid, 65534)
    await store.close({ stopPostgres: true })
  })
})

t.test('if the database at DATABASE_URL cannot be reached, the error shows the URL without its password', async (t) => {
  const wrong = (databaseUrl: string) =>
    openStore({ ...defaults, databaseUrl, dataDir: '', log: silent, clock: systemClock })
  await t.rejects(wrong('mysql://root:hunter2@localhost/x'), {
    message: 'DATABASE_URL must look like postgres://user:password@host:5432/database.',
  })
  await t.rejects(wrong('postgres://u:hunter2@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/etc/ca.crt'), {
    message:
      'DATABASE_URL has sslrootcert, which only programs with libpq read. Name the certificate of the authority in NODE_EXTRA_CA_CERTS.',
  })
  await t.rejects(wrong('postgres://u:hunter2@127.0.0.1:1/x?sslmode=verify_full'), {
    message: 'DATABASE_URL has another sslmode than disable, allow, prefer, require, verify-ca, verify-full.',
  })
  const refused = await wrong('postgres://u:hunter2@127.0.0.1:1/x').catch((error: unknown) => error as Error)
  t.match(refused, {
    message:
      'The database at 127.0.0.1:1 cannot be used: nothing answers there; start Postgres, or correct DATABASE_URL (ECONNREFUSED).',
  })
  t.notMatch(JSON.stringify(refused), /hunter2/)
})
