/** Runs the test program in one language, and compares its output lines and its requests. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { packageFile } from '../../../runtime/package-file.ts'
import { checkRules } from './check-rules.ts'
import type { Faults } from './faults.ts'
import type { Language } from './languages.ts'
import type { ScriptedServer } from './scripted-server.ts'
import type { Scenario } from './setup.ts'

const run = promisify(execFile)
const here = import.meta.dirname
/** The limit for one program's run. */
const runMsMax = 180_000
/** The pause after a 429. It is a little shorter than the header says, because a client's clock may be faster. */
const retryAfterMs = 950
/** How often a client resumes a stream without a new event. */
const attemptsMax = 5

type Line = { step: string }
const expected = JSON.parse(readFileSync(path.join(here, 'expected.json'), 'utf8')) as Line[]

/** `differs` has the fields in which a language cannot give the expected values, by step. */
export async function runLanguage(
  t: Test,
  scenario: Scenario,
  { name, run: command }: Language,
  differs: Readonly<Record<string, object>> = {},
): Promise<void> {
  const { env, faults, rules, scripted } = await scenario.prepare(t, name)
  const [program, ...args] = command
  const { stdout } = await run(program, args, { cwd: packageFile('.').pathname, env, timeout: runMsMax })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  t.same(
    lines.map(({ step }) => step),
    expected.map(({ step }) => step),
    'all steps, in order',
  )
  for (const line of lines)
    t.same(line, { ...expected.find(({ step }) => step === line.step), ...differs[line.step] }, line.step)
  checkRequests(t, faults)
  checkResumed(t, scripted)
  checkRules(t, rules)
}

/** Compares the proxy's count of each request with the expected count. */
function checkRequests(t: Test, faults: Faults): void {
  const [first, second, ...more] = faults.seen('busy')
  t.same(more, [], 'a refused request is repeated once')
  t.ok((second?.atMs ?? 0) - (first?.atMs ?? 0) >= retryAfterMs, 'the client waits as long as Retry-After says')
  t.ok(first?.idempotencyKey && second?.idempotencyKey, 'both requests have an Idempotency-Key')
  t.not(first?.idempotencyKey, second?.idempotencyKey, 'the repeated request has a new Idempotency-Key')
  t.equal(faults.seen('silent').length, 2, 'no cancelled or late request is repeated')
  for (const fault of ['reset', 'short']) t.equal(faults.seen(fault).length, 1, 'no cut stream is repeated')
}

/** Checks the position from which a client resumed each stream, as the scripted server recorded it. */
function checkResumed(t: Test, scripted: ScriptedServer): void {
  const positions = scripted.seen('twins').map(({ lastEventId = null, cursor }) => [lastEventId, cursor])
  const resumed = (id: string) => [id, null]
  t.same(
    positions,
    [[null, '0:0'], ...['1:5', '1:5', '1:9'].map(resumed)],
    'each attempt is after the last whole event',
  )
  t.equal(scripted.seen('lost').length, 1 + attemptsMax, 'the client gives up')
  t.same(
    scripted.seen('stalled').map(({ lastEventId }) => lastEventId),
    [undefined, '1:5', '1:9'],
    'after a late read the stream is opened where it was',
  )
  for (const suffix of scripted.seen('opening_async').length > 0 ? ['', '_async'] : ['']) {
    t.equal(scripted.seen(`opening${suffix}`).length, 2, 'a stream that was closed while it was opened is left closed')
    t.equal(scripted.seen(`pausing${suffix}`).length, 5, 'a stream that was closed in a pause is not opened again')
  }
  t.notOk(scripted.upgraded.includes('elsewhere'), 'no socket follows a redirect')
}
