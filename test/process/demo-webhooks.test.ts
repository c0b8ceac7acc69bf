/** Checks that `make demo-webhooks` does what it prints. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { shellEnvironment } from './shell.ts'

t.setTimeout(400_000)

t.test('the demo of webhooks runs to its end', async (t) => {
  const program = path.join(import.meta.dirname, '../webhooks/demo.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--import=tsx', program], { env: shellEnvironment() })
  t.match(stdout, /^ {3}call\.status {5}\S+ {2}pending {5}attempts 1 {2}connect$/m, 'an attempt failed')
  t.match(
    stdout,
    /gets all of them: 1 × call\.pre_call, 2 × call\.status, [12] × call\.report, 1 × call\.analysis, 1 × call\.recording/,
  )
  t.match(stdout, 'it has come 2 times, with 1 webhook-id')
  t.match(stdout, /^ {3}call\.status {5}\S+ {2}succeeded {3}attempts [23]$/m, 'and was made again')
  for (const language of ['Node', 'Python'])
    t.match(
      stdout,
      new RegExp(`standardwebhooks for ${language}: (skipped, |accepts (\\d+) of \\2, refuses (\\d+) of \\3 )`),
    )
})
