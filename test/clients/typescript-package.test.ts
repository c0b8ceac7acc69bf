/** The TypeScript client's package builds in its strictest mode, and the examples in its README run. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { loopback } from '../realtime/socket.ts'
import { serverWith } from '../server.ts'

const run = promisify(execFile)
const root = packageFile('.').pathname
t.setTimeout(180_000)

t.test('the package builds without a warning, and its README examples run in an empty folder', async (t) => {
  const folder = t.testdir({})
  const client = path.join(folder, 'node_modules/@parley/client')
  mkdirSync(path.dirname(client), { recursive: true })
  cpSync(path.join(root, 'generated/clients/typescript'), client, { recursive: true })
  symlinkSync(path.join(root, 'node_modules/ws'), path.join(folder, 'node_modules/ws'))
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const built = await run(process.execPath, [compiler, '-p', client]).catch((error: { stdout: string }) => error)
  t.equal(built.stdout, '')

  const server = await serverWith({ PARLEY_PROVIDERS: loopback, PARLEY_TIMEOUTS_FIRST_AUDIO_MS: '60000' })
  const [respond = '', transcribe = '', speak = '', receive = ''] = examples(
    readFileSync(path.join(client, 'README.md'), 'utf8'),
  )
  const runExample = async (text: string) => {
    const file = path.join(folder, 'example.mjs')
    writeFileSync(file, text)
    const env = { ...process.env, PARLEY_URL: server.url, PARLEY_API_KEY: server.key }
    const options = { cwd: folder, env, encoding: 'buffer', timeout: 90_000 } as const
    return (await run(process.execPath, [file], options)).stdout
  }
  t.equal((await runExample(respond)).toString(), 'Say hello.')
  t.match((await runExample(transcribe)).toString(), /all lines are open/i)
  t.ok((await runExample(speak)).length > 10_000, 'there is speech')
  t.equal((await runExample(receive)).length, 0, 'the example without a request loads')
})

const examples = (text: string) => [...text.matchAll(/^```js\n([^]*?)^```/gm)].map(([, code = '']) => code)
