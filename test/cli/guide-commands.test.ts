/**
 * Copies every block of commands in the guides listed below, and runs a guide's blocks in order in one shell. In this
 * shell `parley` is a function: it sends its arguments to this process, and the command runs here against the test's
 * server.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { runAlone, runCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { openWordEngines } from '../phone/engines.ts'
import { ownServer } from '../server.ts'

const run = promisify(execFile)

/** Command blocks that are not run here, by their first line, each with the reason. */
const notRun: Record<string, string> = {
  'git clone ADDRESS-OF-THIS-REPOSITORY parley && cd parley': 'make test begins like this in a clean clone',
  'PARLEY=http://127.0.0.1:8080': 'the shell has both variables',
}
/** Each guide, with the expected output of its commands. */
const guides: readonly (readonly [guide: string, printed: readonly RegExp[]])[] = [
  ['quick-start', [/"route":\{/, /"choices":/, /"name":"bicycle shop"/, /Hello, this is the bicycle shop/]],
  ['routing', [/"provider":"local","model":"scripted"/, /sk_live_/, /"candidate":"local:/, /moonshine-tiny-en/]],
  ['agents', [/"transportToken":"/, /"defaultValue":"there"/, /front desk/]],
  ['calls', [/"next_cursor":/, /no calls|id  /, /event: open/, /"time_zone":"Europe.Berlin"/]],
  ['security', [/sk_live_/, /reports/]],
  ['from-litellm', [/sk_live_/]],
  ['from-vapi-retell', [/"name":"Shop"/]],
]

function textOf(guide: string): string {
  return readFileSync(packageFile(`docs/${guide}.md`), 'utf8')
}

/** Returns the guide's blocks in a language. */
function blocksOf(guide: string, language: string): string[] {
  return [...textOf(guide).matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  )
}

// The commands run in separate processes, so no test clock reaches them and calls run in real time.
const parley = await ownServer(t, {}, { engines: openWordEngines })
const folder = freshDataDir()
mkdirSync(folder, { recursive: true })
symlinkSync(packageFile('test'), path.join(folder, 'test'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const commands = await serveCommands()

/** Serves commands. A request's body is a command's arguments, each followed by NUL. The answer is the output. */
async function serveCommands(): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const args = Buffer.concat(await request.toArray())
    .toString()
    .split('\0')
    .slice(0, -1)
  const { code, stdout, stderr } = await runCommand(parley, args, { PARLEY_API_KEY: parley.key })
  response.writeHead(code === 0 ? 200 : 500).end(code === 0 ? stdout : stderr)
}

const parleyFunction = String.raw`parley() { printf '%s\0' "$@" | curl -s --fail-with-body --data-binary @- ${commands}; }`

async function inShell(script: string): Promise<string> {
  const env = { ...process.env, PARLEY: parley.url, KEY: parley.key }
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${parleyFunction}\n${script}`], {
    env,
    cwd: folder,
    timeout: 60_000,
  })
  return stdout
}

for (const [guide, printed] of guides) {
  t.test(`the commands of docs/${guide}.md work`, async (t) => {
    const blocks = blocksOf(guide, 'sh').filter((block) => !Object.hasOwn(notRun, block.split('\n')[0] ?? ''))
    t.ok(blocks.length > 0)
    const output = await inShell(blocks.join('echo\n'))
    t.notMatch(output, /"error":/)
    for (const each of printed) t.match(output, each)
  })
}

t.test('each command block that this test skips exists in a guide', (t) => {
  const all = guides.flatMap(([guide]) => blocksOf(guide, 'sh'))
  for (const first of Object.keys(notRun))
    t.ok(
      all.some((block) => block.startsWith(`${first}\n`)),
      first,
    )
  t.end()
})

t.test('the settings in docs/from-litellm.md are accepted', async (t) => {
  const [, settings = ''] = blocksOf('from-litellm', 'yaml')
  t.match(settings, /^# parley\.yaml/)
  writeFileSync(path.join(folder, 'parley.yaml'), settings)
  const { code, stderr } = await runAlone(['config', 'check'], { PARLEY_CONFIG: path.join(folder, 'parley.yaml') })
  t.equal(code, 0, stderr)
})
