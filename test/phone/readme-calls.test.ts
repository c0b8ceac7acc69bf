/** Places the first calls that the README shows. Each is a conversation and ends by itself. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { call } from '../platform/setup.ts'
import { hasEnded } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const readme = readFileSync(packageFile('README.md'), 'utf8')

/** Returns the body that README sends to `path` with curl. */
function bodyOf(path: string): Record<string, unknown> {
  const command = new RegExp(`curl -s \\S+${path} [^]*?-d '([^']*)'`).exec(readme)
  if (command === null) throw new Error(`README sends nothing to ${path}`)
  return JSON.parse(command[1] ?? '') as Record<string, unknown>
}

t.test("the README's commands for a first phone call succeed", async (t) => {
  const phones = await startPhones()
  t.teardown(() => phones.close())
  const started = await call(phones, 'POST', '/v1/sessions/phone', bodyOf('/v1/sessions/phone'))
  t.equal(started.status, 200, started.text)
  const row = await callWhen(phones, started.json<{ sessionId: string }>().sessionId, hasEnded)
  t.equal(row.end_reason, 'user_hangup')
  const texts = row.transcript.entries.map(({ text }) => text).join('\n')
  t.match(texts, /until noon/, 'the agent answers')
  t.match(texts, /goodbye/i)
})
