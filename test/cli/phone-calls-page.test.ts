/** The commands in docs/phone-calls.md, copied and run in order against a server with the simulated carrier. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freshDataDir } from '../installation.ts'
import { openWordEngines } from '../phone/engines.ts'
import { ownServer } from '../server.ts'

const run = promisify(execFile)
const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/phone-calls.md'), 'utf8')

t.test('every command of docs/phone-calls.md works', { timeout: 120_000 }, async (t) => {
  // The commands run in separate processes, so no test clock reaches them and the call runs in real time.
  const parley = await ownServer(t, {}, { engines: openWordEngines })
  const folder = freshDataDir()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, '.parley'))
  writeFileSync(path.join(folder, '.parley/local.key'), `${parley.key}\n`)
  const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, text = '']) => text)
  const script = blocks
    .join('echo\n')
    .replace('http://127.0.0.1:8080', parley.url)
    // The guide tells the reader to end the stream with Ctrl-C. Here curl ends it after 4 s, with the exit code 28.
    .replace(/^curl -sN ([^#\n]*).*$/m, '{ curl -sN --max-time 4 $1 || test $? = 28; }')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, timeout: 60_000 })
  t.notMatch(stdout, /"error":/)
  t.match(stdout, /"e164":"\+12125550101"[^]*"status":"ready"/, 'the number is bought')
  t.match(stdout, /^event: /m, 'the stream of the call')
  t.match(stdout, '"end_reason":"')
  t.match(stdout, '"summary":')
  t.equal(readFileSync(path.join(folder, 'call.wav')).toString('latin1', 0, 4), 'RIFF')
})
