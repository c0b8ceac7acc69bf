/**
 * The generated client in Python: strict types, an installable package, its README, and its behaviour at the limits.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { ownServer } from '../server.ts'
import { startAnswers } from './python/client/answers.ts'
import { pythonEnvironment } from './python/environment.ts'
import { pythonClient } from './scenario/languages.ts'

t.setTimeout(600_000)
const { python, missing } = await pythonEnvironment(pythonClient.requirements)
const skip = missing ?? false
const folder = pythonClient.source
const file = (name: string) => packageFile(`test/clients/${name}`).pathname
const retryable = ['rate_limited', 'rate_limit_error', true, null]

async function run(args: string[], env: NodeJS.ProcessEnv = {}, cwd = packageFile('.').pathname): Promise<string> {
  const variables = { ...process.env, PYTHONPATH: pythonClient.source, PYTHONDONTWRITEBYTECODE: '1', ...env }
  const { stdout } = await promisify(execFile)(python, args, { cwd, env: variables, timeout: 300_000 })
  return stdout
}

/** Checks the types in files with the package's settings. Returns the checker's output, which lists all errors. */
async function checkTypes(cache: string, files: string[], cwd?: string): Promise<string> {
  const options = ['--config-file', path.join(folder, 'pyproject.toml'), '--cache-dir', cache]
  const check = run(['-m', 'mypy', ...options, ...files], { MYPYPATH: pythonClient.source }, cwd)
  return check.catch((error: Error & { stdout?: string }) => error.stdout || error.message)
}

/** Returns the code blocks in the README. */
function examples(): string[] {
  const text = readFileSync(path.join(folder, 'README.md'), 'utf8')
  return [...text.matchAll(/^```python\n([^]*?)^```/gm)].map(([, code = '']) => code)
}

t.test('the package, its test program and the README examples pass strict type checks', { skip }, async (t) => {
  const readme = path.join(t.testdir({ 'readme.py': examples().join('\n') }), 'readme.py')
  const cache = path.join(path.dirname(readme), 'cache')
  t.match(await checkTypes(cache, [path.join(pythonClient.source, 'parley'), readme]), /^Success/)
  t.match(await checkTypes(cache, ['.'], file('scenario/python')), /^Success/)
  t.match(await checkTypes(cache, [file('python/client/behaviour.py')]), /^Success/)
})

t.test('the package installs from its folder', { skip }, async (t) => {
  const target = t.testdir()
  const options = ['--no-build-isolation', '--no-deps', '--disable-pip-version-check', '--target', target]
  await run(['-m', 'pip', 'install', '-q', ...options, folder])
  t.ok(existsSync(path.join(target, 'parley/py.typed')))
  t.equal(await run(['-c', 'import parley; print(parley.__version__)'], { PYTHONPATH: target }), '0.1.0\n')
})

t.test('the examples in the README run one after another', { skip }, async (t) => {
  const parley = await ownServer(t)
  const program = examples().join('\n')
  const output = await run(['-c', program], { PARLEY_URL: parley.url, PARLEY_API_KEY: parley.key }, t.testdir())
  t.equal(output.match(/all lines are open/gi)?.length, 2, 'a form and a socket transcribe the speech')
})

t.test('the Python client follows its rules for retries, limits and unknown values', { skip }, async (t) => {
  const answers = await startAnswers()
  t.teardown(answers.close)
  const results = JSON.parse(await run([file('python/client/behaviour.py')], { ANSWERS_URL: answers.url })) as object
  const delta = { event: 'response.text.delta', data: { delta: 'a\u2028b\u0085c ü' } }
  const completed = { event: 'response.completed', data: {} }
  t.same(results, {
    ...{ later: [429, ...retryable], 'own key': [429, ...retryable], chunks: [429, ...retryable] },
    ...{ async: [429, 'rate_limited'], tomorrow: [429, ...retryable] },
    transcribed: Array(6).fill('RIFF'),
    'async transcribed': Array(7).fill('RIFF'),
    refused: [404, 'NOT_FOUND', 'invalid_request_error', false, 'req_1'],
    platform: [429, 'RATE_LIMITED', 'rate_limit_error', true, null],
    form: [404, 'NOT_FOUND', null, false, 'req_1'],
    gateway: [502, null, null, false, null],
    endless: [500, null, null, false, null],
    unknown: { models: [{ kind: 'video', provider: 'new', more: 1 }] },
    page: ['ProtocolError'],
    unsent: ['ApiConnectionError', false],
    split: [delta, completed, '7'],
    after: [completed, ''],
    large: 'An event is longer than 16777216 bytes.',
    failed: [200, ...retryable],
    misuses: Array(7).fill('ValueError'),
    webhooks: ['call.status', 'call.status', 'timestamp', 'timestamp', 'signature', 'header', 'timestamp'],
  })
  // The client makes three attempts by default. It makes only one if the program sets the Idempotency-Key, or if the
  // body can be read only once. The async client makes two here.
  const keys = answers.requests('later').map(({ headers }) => headers['idempotency-key'])
  t.equal(keys.length, 3 + 1 + 1 + 2)
  t.equal(new Set(keys).size, keys.length, 'each attempt has another Idempotency-Key')
  t.equal(keys[3], 'mine')
  t.equal(answers.requests('tomorrow').length, 1, 'a pause of 61 s is too long')
  const [, form] = answers.requests('refused')
  t.match(form?.headers['user-agent'], /^parley-python\/0\.1\.0$/)
  t.ok(
    (form?.body.indexOf('name="request"') ?? -1) < (form?.body.indexOf('name="audio"') ?? -1),
    'the request comes first',
  )
})
