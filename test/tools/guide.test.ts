/** The example tools in docs/tools.md, unchanged: each answers a session's request, and refuses a forged one. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import type { Call } from '../../domain/records/call.ts'
import { createRunTool } from '../../domain/tools/run-tool.ts'
import { createWebhookClient } from '../../providers/wire/webhook-client.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { freePort, until } from '../process/machine.ts'

const guide = readFileSync(packageFile('docs/tools.md'), 'utf8')
const secret = 'a-secret-of-at-least-24-characters'
const call = {
  id: '018f0000-0000-7000-8000-000000000001',
  organizationId: 'org_1',
  agentId: null,
  test: false,
  metadata: {},
} as unknown as Call

function blockOf(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'm').exec(guide)?.[1]
  if (block === undefined) throw new Error(`the guide has no block of ${language}`)
  return block
}

const tools = [
  { language: 'python', file: 'tool.py', program: 'python3' },
  { language: 'js', file: 'tool.mjs', program: process.execPath },
] as const

for (const { language, file, program } of tools) {
  const isMissing = spawnSync(program, ['--version']).error !== undefined
  t.test(`the guide's tool in ${language} runs`, { skip: isMissing && `${program} is not installed` }, async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
    const port = await freePort()
    writeFileSync(path.join(folder, file), blockOf(language))
    const env = { ...process.env, TOOL_SECRET: secret, PORT: String(port) }
    const child = spawn(program, [path.join(folder, file)], { env, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    t.teardown(async () => {
      child.kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    })
    const url = `http://127.0.0.1:${port}/`
    const unsigned = () =>
      fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-signature': 'v1,x', 'webhook-id': 'i' } })
    await until('the tool listens', () =>
      unsigned().then(
        () => true,
        () => false,
      ),
    )
    t.equal((await unsigned()).status, 401, 'a request that nobody signed')
    t.same(await run(t, url, secret), {
      result: { order: '4711', state: 'on its way', arrives: 'on Tuesday' },
    })
    t.match(await run(t, url, 'another-secret-of-24-characters'), { failure: { code: 'http_error', status: 401 } })
  })
}

t.test('docs/tools.md describes each field of a tool request', (t) => {
  const source = readFileSync(packageFile('domain/tools/run-tool.ts'), 'utf8')
  const body = /function bodyOf[^]*?\n}/.exec(source)?.[0] ?? ''
  const fields = [...body.matchAll(/^ {4}(\w+)[,:]/gm)].map(([, name]) => name)
  t.ok(fields.length > 6)
  for (const field of fields) t.match(guide, `\`${field}\``)
  t.end()
})

type Teardown = { teardown(run: () => unknown): unknown }

/** Calls the tool as a session does. */
async function run(t: Teardown, url: string, signing: string): Promise<object> {
  const client = createWebhookClient({ guard: { allowedSubnets: ['127.0.0.0/8'] }, clock: systemClock })
  t.teardown(() => client.close())
  const tools = createRunTool({
    client,
    clock: systemClock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    valueFaults: () => [],
    isPhoneNumber: () => true,
    transfer: () => Promise.reject(new Error('no transfer')),
    secretsOf: () => ({ secret: signing, authHeaders: {} }),
    workspaceSecrets: () => Promise.resolve([]),
  })
  const settings = {
    hasSecret: true,
    headers: null,
    authHeaders: null,
    timeoutMs: 5000,
    responseMode: null,
    asyncAck: null,
  }
  const source = { kind: 'webhook', url, ...settings } as const
  const tool = { name: 'find_order', description: 'd', parameters: {}, source, preToolSpeech: 'auto' } as const
  const done = await tools.webhook(call, { callId: 'c', tool, args: { number: '4711' } })
  return 'result' in done ? { result: JSON.parse(done.result) as object } : done
}
