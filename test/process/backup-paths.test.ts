/** Tests `parley backup` and `parley restore` with unusable paths: the commands say why, and leave no file. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { refused } from '../cli/refused.ts'
import type { Finished } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { TestCluster } from '../store/cluster.ts'
import { hold } from '../store/held.ts'
import { runFile, runParley } from './command.ts'
import { until } from './machine.ts'
import { entry } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())
const folder = freshDataDir()
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const databaseUrl = await cluster.database()
const options = { dataDir: path.join(folder, 'unused'), env: { DATABASE_URL: databaseUrl } }
const at = (...names: string[]) => path.join(folder, ...names)
const entries = () => readdirSync(folder).sort()

mkdirSync(at('folder'))
writeFileSync(at('file'), 'of before')
writeFileSync(at('empty'), '')
const before = entries()

t.test('if backup cannot write to its path, the error names the fault', async (t) => {
  const cases: [string, RegExp][] = [
    [at('none', 'x.backup'), /cannot be written: there is no folder \S+none; make it first\./],
    [`${at('none')}/`, /there is no folder \S+none; make it first/],
    [at('folder'), /cannot be written: it is a folder; name a file in it\./],
    [`${at('folder')}/`, /it is a folder/],
    [at('file', 'x'), /a part of its path is a file and no folder/],
    [at('x'.repeat(256)), /the name is too long/],
    // No user may make a file in this folder, not even root. In a container it is read-only.
    ['/sys/x.backup', /this user has no permission; name another folder than \/sys|its disk can only be read/],
    ['/dev/null', /it is no file/],
    ['', /name the file that the backup is written to/],
  ]
  for (const [file, message] of cases) refused(t, await runParley(['backup', file], options), message)
  t.ok(statSync('/dev/null').isCharacterDevice())
  t.strictSame(entries(), before)
})

const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
const mount = ['unshare', ...namespace, 'mount', '-t', 'tmpfs', 'tmpfs', at('folder')] as const
const hasMounts = spawnSync(mount[0], mount.slice(1)).status === 0

t.test('if the disk is full, the previous backup stays', { skip: !hasMounts && 'unshare may not mount' }, async (t) => {
  const disk = at('folder')
  const script = `mount -t tmpfs -o size=4k tmpfs ${disk}; echo before > ${disk}/file; ${entry} backup ${disk}/file
    code=$?; ls ${disk} >&2; cat ${disk}/file >&2; exit $code`
  const done = await runFile('unshare', [...namespace, 'sh', '-c', script], options)
  refused(t, done, /cannot be written: the disk is full.*make room.*No part of it is left.*\nfile\nbefore\n$/)
})

t.test('the name of a backup may be as long as the file system allows', async (t) => {
  const { code, stderr } = await runParley(['backup', at('x'.repeat(255))], options)
  t.equal(code, 0, stderr)
  rmSync(at('x'.repeat(255)))
  t.strictSame(entries(), before)
})

t.test('an interrupted backup leaves no file', async (t) => {
  const release = await hold(cluster.sql(t, databaseUrl), 'lock table organizations')
  const child = start('backup', at('file'))
  await untilItWaits(t, 'organizations')
  child.process.kill('SIGINT')
  refused(t, await child.finished, /^parley: the command was interrupted$/m)
  await release()
  t.strictSame(entries(), before)
})

t.test('if the database connection breaks during a backup, the error reports no file problem', async (t) => {
  const release = await hold(cluster.sql(t, databaseUrl), 'lock table organizations')
  const relay = await startRelay(t)
  const child = start('backup', at('file'), relay.databaseUrl)
  await untilItWaits(t, 'organizations')
  relay.reset()
  const finished = await child.finished
  refused(t, finished, /^parley: /)
  t.notMatch(finished.stderr, /cannot be written/)
  await release()
  t.strictSame(entries(), before)
})

t.test('a restore that waits for its input can be interrupted', async (t) => {
  const pipe = at('pipe')
  t.equal(spawnSync('mkfifo', [pipe]).status, 0)
  t.teardown(() => rmSync(pipe))
  const child = start('restore', pipe)
  // Opening the pipe for writing succeeds once the command has opened the pipe for reading. Nothing is then written.
  const writer = await open(pipe, 'w')
  child.process.kill('SIGINT')
  // A waiting read keeps the process alive until the pipe is closed, or until a second signal.
  await until('it says so', () => child.stderr().includes('the command was interrupted'))
  await writer.close()
  refused(t, await child.finished, /^parley: the command was interrupted$/m)
})

t.test('if restore cannot read its file, the error names the fault', async (t) => {
  const dataDir = at('new')
  const cases: [string, RegExp][] = [
    [at('none'), /none cannot be read: there is no such file\./],
    [at('none', 'x'), /there is no such file/],
    [at('folder'), /cannot be read: it is a folder; name a file in it\./],
    [at('empty'), /cannot be read: it is empty\./],
    [at('file', 'x'), /a part of its path is a file and no folder/],
    [at('file'), /the file is not a whole backup of Parley/],
  ]
  for (const [file, message] of cases) refused(t, await runParley(['restore', file], { dataDir }), message)
  t.notOk(existsSync(dataDir), 'no database was made')
})

/** Starts a command as a child process, so the test can send it signals. */
function start(command: string, file: string, url = databaseUrl) {
  const env = { ...process.env, PARLEY_DATA_DIR: options.dataDir, DATABASE_URL: url }
  const child = spawn(entry, [command, file], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const finished = new Promise<Finished>((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
  return { process: child, stderr: () => stderr, finished }
}

function untilItWaits(t: Test, table: string): Promise<void> {
  const sql = cluster.sql(t, databaseUrl)
  return until(`it waits for ${table}`, async () => {
    const waiting = await sql`select from pg_locks where relation = ${table}::regclass and not granted`
    return waiting.length > 0
  })
}

/** Starts a TCP relay to the database. The test can reset its connections. */
async function startRelay(t: Test) {
  const near: net.Socket[] = []
  const { pathname, searchParams } = new URL(databaseUrl)
  const server = net.createServer((socket) => {
    near.push(socket)
    const far = net.connect(path.join(searchParams.get('host') ?? '', '.s.PGSQL.5432'))
    socket.on('error', () => {}).on('close', () => far.destroy())
    socket.pipe(far).pipe(socket)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => server.close())
  const { port } = server.address() as net.AddressInfo
  return {
    databaseUrl: `postgres://parley@127.0.0.1:${port}${pathname}`,
    reset() {
      for (const socket of near) socket.resetAndDestroy()
    },
  }
}
