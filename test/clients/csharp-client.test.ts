/** The client for C#: its size, its behaviour at its limits, and the programs in its README and documentation. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contracts } from '../docs-pages/site.ts'
import { operations } from '../docs-pages/snippet-texts.ts'
import { ownServer } from '../server.ts'
import { emittedSnippets } from './emitted-snippets.ts'
import { startAnswers, startSockets } from './java/answers.ts'
import { compile, csharpClient, csharpLibrary, dotnet, filesIn, prepareCsharp } from './scenario/csharp/prepare.ts'

const run = promisify(execFile)
const limitMs = 600_000
/** The limit for the lines of a generated client. */
const linesMax = 8000

t.setTimeout(5 * limitMs)
const skip = (await prepareCsharp()) ?? false

async function csharp(program: string, env: NodeJS.ProcessEnv, cwd = '.'): Promise<string> {
  const { stdout } = await run(dotnet(), [program], { cwd, env: { ...process.env, ...env }, timeout: limitMs })
  return stdout
}

/** Compiles a program beside a copy of the library, because .NET searches libraries in the program's folder. */
async function build(folder: string, name: string, files: readonly string[]): Promise<string> {
  const library = path.join(folder, path.basename(csharpLibrary))
  writeFileSync(library, readFileSync(csharpLibrary))
  const program = path.join(folder, `${name}.dll`)
  await compile(program, files, ['--reference', library])
  return program
}

t.test('the client has at most 8,000 lines', (t) => {
  const lines = filesIn(csharpClient).flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n'))
  t.ok(lines.length <= linesMax, `${lines.length} lines`)
  t.end()
})

t.test('the programs in the README compile, and the first two run', { skip }, async (t) => {
  const text = readFileSync(path.join(csharpClient, 'README.md'), 'utf8')
  const sources = [...text.matchAll(/^```csharp\n([^]*?)^```/gm)].map(([, code = '']) => code)
  t.equal(sources.length, 4)
  const folder = t.testdir()
  const programs: string[] = []
  for (const [place, source] of sources.entries()) {
    const file = path.join(folder, `${place}.cs`)
    writeFileSync(file, source)
    programs.push(await build(folder, `Quickstart${place}`, [file]))
  }
  const parley = await ownServer(t)
  const env = { PARLEY_URL: parley.url, PARLEY_API_KEY: parley.key }
  t.match(await csharp(programs[0] ?? '', env, folder), /^(stt|tts|llm) \w+/m)
  t.match(await csharp(programs[1] ?? '', env, folder), /all lines are open/i)
  const wrong = path.join(folder, 'wrong.cs')
  writeFileSync(wrong, sources[2]?.replace('"Hello!"', '1') ?? '')
  await t.rejects(build(folder, 'Wrong', [wrong]), /cannot convert from 'int' to 'string'/, 'a wrong program is found')
})

t.test('the snippets of the documentation compile', { skip }, async (t) => {
  const folder = t.testdir()
  const snippets = emittedSnippets('csharp')
  t.equal(snippets.size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  const files = [...snippets].map(([name, program]) => {
    const file = path.join(folder, `${name}.cs`)
    writeFileSync(file, method(name, program))
    return file
  })
  await compile(path.join(folder, 'Snippets.dll'), files, ['--library', '--reference', csharpLibrary])
})

/** An assembly has at most one program, so each snippet becomes a method. Some operations are deprecated. */
function method(name: string, program: string): string {
  const [imports = '', statements = ''] = program.split('\n\n', 2)
  return `#pragma warning disable CS0618
${imports}

namespace Snippets.${name};

internal static class Program
{
    internal static async System.Threading.Tasks.Task Main()
    {
${statements}
    }
}
`
}

t.test('the C# client follows its rules for retries, limits, sockets and unknown values', { skip }, async (t) => {
  const answers = await startAnswers(t)
  const files = ['Behaviour.cs', 'Interruptions.cs'].map((name) => path.join(import.meta.dirname, 'csharp', name))
  const program = await build(t.testdir(), 'Behaviour', files)
  const env = { ANSWERS_URL: answers.url, SOCKETS_URL: await startSockets(t), UNUSED_URL: 'http://127.0.0.1:1' }
  const busy = ['api', 429, 'rate_limited', true]
  const failed = ['api', 500, 'service_unavailable', true]
  t.same(JSON.parse(await csharp(program, env)), {
    ...{ busy, 'own key': busy, 'own header': busy, file: busy, stream: busy },
    conflict: ['api', 409, 'request_in_progress', true],
    ...{ 'post 500': failed, 'get 500': failed },
    message: ['500 relay_error: No. Wait.', 'api_error', 'Wait.'],
    redirect: ['api', 302, '', false],
    ...{ cut: ['connection', false], 'never made': ['connection', true], page: 'ProtocolException' },
    unknown: 'video',
    split: ['7 ü', 'response.completed'],
    resumed: ['0:0 status', '1:0 transcript', '2:0 transcript', '2:0 end'],
    ...{ slow: 'RequestTimeoutException', reset: 100, following: 'ArgumentException' },
    ...{ null: 'a', ascii: 'heard', path: 'ArgumentException', secret: 'ArgumentException' },
    ...{ normal: 1, going: ['closed', 1001, 'SHUTTING_DOWN', true], nameless: ['closed', 1005, '', false] },
    ...{ lost: ['closed', 1006, '', true], junk: 'ProtocolException', refused: ['api', 401, '', false] },
    after: ['closed', 1001, 'SHUTTING_DOWN', true],
    options: 'ParleyOptions { Timeout = 00:05:00, RetriesMax = 2, HeaderPrefix = Service, UserAgent =  }',
    dropped: ['connection', false],
    missing: 'FileNotFoundException',
    ...{ upload: [1, false], 'late upload': [1, false] },
    disposed: false,
    cancelled: 'OperationCanceledException',
  })
  const requests = (name: string) => answers.seen(name).length
  t.same(['busy', 'get', 'file'].map(requests), [3, 3, 3], 'two more attempts')
  t.same(['key', 'header', 'conflict', 'post', 'stream', 'redirect', 'cut'].map(requests), Array(7).fill(1))
  t.equal(requests('dropped'), 2, 'one request opens the connection, and one has no body')
  const keys = answers.seen('busy').map(({ headers }) => headers['idempotency-key'])
  t.equal(new Set(keys).size, keys.length, 'each attempt has another Idempotency-Key')
  t.equal(answers.seen('header')[0]?.headers['idempotency-key'], 'mine')
  t.same(
    answers.seen('resumed').map(({ headers }) => headers['last-event-id']),
    [undefined, '1:0'],
  )
  const agent = { name: 'a', systemPrompt: 'Be brief.', intent: { language: 'en' }, voice: null }
  t.same(JSON.parse(answers.seen('null')[0]?.body ?? ''), agent, 'absent fields are not sent')
  const { headers } = answers.seen('ascii')[0] ?? { headers: {} }
  t.match(headers, { 'x-acme-intent': /^\{"language":"\\u00fc"\}$/i, 'content-type': 'audio/wav' })
  t.match(headers, { 'user-agent': 'parley-csharp/0.1.0', authorization: 'Bearer sk' })
})
