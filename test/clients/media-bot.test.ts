/** The bot in docs/media-socket.md runs unchanged against a server with its built-in voice. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { ownServer } from '../server.ts'
import { pythonEnvironment } from './python/environment.ts'

const run = promisify(execFile)
t.setTimeout(700_000)
const { python, missing } = await pythonEnvironment('socket.txt')

t.test("the media bot asks a question and saves the agent's spoken answer", { skip: missing ?? false }, async (t) => {
  const guide = readFileSync(packageFile('docs/media-socket.md'), 'utf8')
  const [, program = '', expected = ''] = /^```python\n([^]*?)^```[^]*^It prints\n\n```\n([^]*?)^```/m.exec(guide) ?? []
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'bot.py'), program)
  const server = await ownServer(t)
  const env = { ...process.env, PARLEY_URL: server.url, PARLEY_API_KEY: server.key }
  const { stdout, stderr } = await run(python, ['bot.py'], { cwd: folder, env, timeout: 120_000 })
  t.equal(stderr, '')
  const withoutId = (text: string) => text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID')
  t.equal(withoutId(stdout), withoutId(expected))
  t.ok(readFileSync(path.join(folder, 'agent.wav')).length > 50_000, 'more than a second of speech')
})
