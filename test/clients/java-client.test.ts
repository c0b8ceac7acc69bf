/** The client for Java: the programs in its README, its package, and its behaviour at its limits. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { contracts } from '../docs-pages/site.ts'
import { operations } from '../docs-pages/snippet-texts.ts'
import { ownServer } from '../server.ts'
import { emittedSnippets } from './emitted-snippets.ts'
import { startAnswers, startSockets } from './java/answers.ts'
import { printedBy } from './printed.ts'
import { compile, javaClassPath, javaClient, prepareJava } from './scenario/java/prepare.ts'
import { install } from './setup.ts'

const run = promisify(execFile)
const limitMs = 600_000

t.setTimeout(5 * limitMs)
const noJava = await prepareJava()
const skip = noJava ?? false

async function java(classes: string, main: string, env: NodeJS.ProcessEnv, cwd = classes): Promise<string> {
  const classPath = [classes, javaClassPath].join(path.delimiter)
  const options = { cwd, env: { ...process.env, ...env }, timeout: limitMs }
  const { stdout } = await run('java', ['-cp', classPath, main], options)
  return stdout
}

t.test('the programs in the README compile, and the first two run', { skip }, async (t) => {
  const text = readFileSync(path.join(javaClient, 'README.md'), 'utf8')
  const programs = [...text.matchAll(/^```java\n([^]*?)^```/gm)].map(([, code = '']) => code)
  t.equal(programs.length, 4)
  const folder = t.testdir()
  for (const [place, program] of programs.entries()) {
    const source = path.join(folder, `${place}`)
    mkdirSync(source)
    writeFileSync(path.join(source, 'Quickstart.java'), program)
    await compile(source, path.join(source, 'classes'), javaClassPath)
  }
  const parley = await ownServer(t)
  const env = { PARLEY_URL: parley.url, PARLEY_API_KEY: parley.key }
  t.match(await java(path.join(folder, '0/classes'), 'Quickstart', env), /^(stt|tts|llm) \w+/m)
  t.match(await java(path.join(folder, '1/classes'), 'Quickstart', env), /all lines are open/i)
  const classPath = [path.join(folder, '0/classes'), javaClassPath].join(path.delimiter)
  const wrongKey = { ...env, PARLEY_API_KEY: 'sk_live_wrong' }
  const refused = await printedBy('java', ['-cp', classPath, 'Quickstart'], folder, wrongKey)
  t.match(refused, /^401 \w+: .* \(request \w+/m)
})

t.test('the snippets of the documentation compile', { skip }, async (t) => {
  const folder = t.testdir()
  const snippets = emittedSnippets('java')
  t.equal(snippets.size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  for (const [name, program] of snippets) write(folder, name, program)
  // Some operations are deprecated, and their snippets are there too.
  const check = () => compile(folder, path.join(folder, 'classes'), javaClassPath, ['-Xlint:-deprecation'])
  await check()
  write(folder, 'platform_createAgent', snippets.get('platform_createAgent')?.replace('"Front desk"', '1') ?? '')
  await t.rejects(check(), /int cannot be converted to String/, 'a wrong snippet is found')
})

/** All snippets declare a class with the same name, so each snippet gets a separate package. */
function write(folder: string, name: string, program: string): void {
  mkdirSync(path.join(folder, name), { recursive: true })
  writeFileSync(path.join(folder, name, 'Main.java'), `package ${name};\n${program}`)
}

const pom = path.join(javaClient, 'pom.xml')
const noMaven = noJava ?? (await install('mvn', ['dependency:resolve-plugins', '-q', '-B', '-f', pom]))

t.test('the package builds with Maven', { skip: noMaven ?? false }, async (t) => {
  const folder = path.join(t.testdir(), 'client')
  cpSync(javaClient, folder, { recursive: true })
  await run('mvn', ['-q', '-B', '-f', path.join(folder, 'pom.xml'), 'package'], { timeout: limitMs })
  t.ok(existsSync(path.join(folder, 'target/parley-client-0.1.0.jar')))
})

t.test('the Java client follows its rules for retries, limits, sockets and unknown values', { skip }, async (t) => {
  const answers = await startAnswers(t)
  const classes = packageFile('.cache/clients/java/behaviour').pathname
  await compile(path.join(import.meta.dirname, 'java'), classes, javaClassPath)
  const env = { ANSWERS_URL: answers.url, SOCKETS_URL: await startSockets(t), UNUSED_URL: 'http://127.0.0.1:1' }
  const busy = ['api', 429, 'rate_limited', true]
  const failed = ['api', 500, 'service_unavailable', true]
  t.same(JSON.parse(await java(classes, 'behaviour.Behaviour', env)), {
    ...{ busy, 'own key': busy, 'own header': busy, file: busy, stream: busy },
    conflict: ['api', 409, 'request_in_progress', true],
    ...{ 'post 500': failed, 'get 500': failed },
    message: ['500 relay_error: No. Wait.', 'api_error', 'Wait.'],
    redirect: ['api', 302, '', false],
    ...{ cut: ['connection', false], 'never made': ['connection', true], page: 'ProtocolException' },
    unknown: ['video', true],
    split: ['7 ü', 'response.completed'],
    resumed: ['0:0 status', '1:0 transcript', '2:0 transcript', '2:0 end'],
    ...{ slow: 'RequestTimeoutException', reset: 100, following: 'IllegalArgumentException' },
    ...{ null: 'a', ascii: 'heard', path: 'IllegalArgumentException', secret: 'IllegalArgumentException' },
    ...{ normal: 1, going: ['closed', 1001, 'SHUTTING_DOWN', true], nameless: ['closed', 1005, '', false] },
    ...{ lost: ['closed', 1006, '', true], junk: 'ProtocolException', refused: ['api', 401, '', false] },
    after: ['closed', 1001, 'SHUTTING_DOWN', true],
  })
  const requests = (name: string) => answers.seen(name).length
  t.same(['busy', 'get', 'file'].map(requests), [3, 3, 3], 'two more attempts')
  t.same(['key', 'header', 'conflict', 'post', 'stream', 'redirect', 'cut'].map(requests), Array(7).fill(1))
  const keys = answers.seen('busy').map(({ headers }) => headers['idempotency-key'])
  t.equal(new Set(keys).size, keys.length, 'each attempt has another Idempotency-Key')
  t.equal(answers.seen('header')[0]?.headers['idempotency-key'], 'mine')
  t.same(
    answers.seen('resumed').map(({ headers }) => headers['last-event-id']),
    [undefined, '1:0'],
  )
  t.equal(answers.seen('null')[0]?.body, '{"name":"a","voice":null}', 'absent fields are not sent')
  const { headers } = answers.seen('ascii')[0] ?? { headers: {} }
  t.match(headers, { 'x-acme-intent': /^\{"language":"\\u00fc"\}$/i, 'content-type': 'audio/wav' })
  t.match(headers, { 'user-agent': 'parley-java/0.1.0', authorization: 'Bearer sk' })
})
