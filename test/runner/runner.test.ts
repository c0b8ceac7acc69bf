/** Files that end badly fail by name, and the later files run all the same. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import t from 'tap'

const fixtures = ['good', 'failing', 'crashing', 'throwing', 'rejecting', 'stuck', 'empty', 'leaving']

t.test('each file of a suite has a separate result, however the process ends', async (t) => {
  const { code, lines } = await run(fixtures)
  t.equal(code, 1)
  const results = lines.flatMap((line) => /^\d+ of 8 {2}\S*fixtures\/(\w+)\.ts {2}(.*), [\d.]+ s$/.exec(line) ?? [])
  t.same(
    results.filter((_, at) => at % 3 !== 0),
    [
      ...['good', '1 passed'],
      ...['failing', '1 passed, 1 FAILED'],
      ...['crashing', '0 passed, 1 FAILED'],
      ...['throwing', '0 passed, 1 FAILED'],
      ...['rejecting', '0 passed, 1 FAILED'],
      ...['stuck', '1 passed, 1 FAILED'],
      ...['empty', '0 passed, 1 FAILED'],
      ...['leaving', '1 passed'],
    ],
  )
  t.match(lines.join('\n'), /^failed: \S+failing\.ts: one is not two > should be equal \(-2 \+1\)$/m)
  t.match(lines.join('\n'), /^failed: \S+crashing\.ts: the process ends in the middle > test unfinished$/m)
  t.match(lines.join('\n'), /^failed: \S+throwing\.ts: an error comes from a callback > from a callback$/m)
  t.match(lines.join('\n'), /^failed: \S+rejecting\.ts: a promise is rejected, and no code handles it > not handled$/m)
  t.match(lines.join('\n'), /TCPServerWrap: more behind \S+leaving\.ts/)
  t.equal(lines.at(-2), '4 passed, 7 failed')
})

t.test('a suite passes if all its files pass', async (t) => {
  const { code, lines } = await run(['good'])
  t.equal(code, 0)
  t.equal(lines.at(-2), '1 passed, 0 failed')
})

t.test('a suite fails if its process fails after files that passed', async (t) => {
  const { code, lines } = await run(['unstopped', 'good'])
  t.equal(code, 1)
  t.match(lines.join('\n'), /a shared part does not stop/)
  t.equal(lines.at(-2), '2 passed, 1 failed')
})

t.test('a suite fails if an error comes after its last file', async (t) => {
  const { code, lines } = await run(['late'])
  t.equal(code, 1)
  t.match(lines.join('\n'), /too late/)
  t.equal(lines.at(-2), '1 passed, 1 failed')
})

function run(names: string[]): Promise<{ code: number; lines: string[] }> {
  const files = names.map((name) => `test/runner/fixtures/${name}.ts`)
  const cwd = path.resolve(import.meta.dirname, '../..')
  const env = { ...process.env, PARLEY_TEST_LEFT_MS: '2000' }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['test/run.mjs', ...files], { cwd, env }, (_, stdout) =>
      resolve({ code: child.exitCode ?? 1, lines: stdout.split('\n') }),
    )
  })
}
