/** Rules about the tests: which may start the built program, and that the documents name the lanes that exist. */
import t from 'tap'
import { code, importsOf, parse, read } from './source.ts'

const tests = code.filter((file) => file.startsWith('test/') && file.endsWith('.ts'))
const imports = new Map(tests.map((file) => [file, importsOf(parse(file))]))

const starters = ['test/process/parley.ts', 'test/process/command.ts']
/** The lane `process`, and lanes of programs that need a whole product beside them. */
const mayStart = /^test\/(process|clients|deploy|livekit|proxies|s3|sip)\/|-in-browser\.test\.ts$/
/** These will start the product in the process of the test. The list only shrinks. */
const stillStart = [
  'test/cli/alone.test.ts',
  'test/cli/calls.test.ts',
  'test/cli/cli.test.ts',
  'test/cli/commands.test.ts',
  'test/cli/config.test.ts',
  'test/cli/database.test.ts',
  'test/cli/dial-interrupted.test.ts',
  'test/cli/listen.test.ts',
  'test/cli/numbers.test.ts',
  'test/cli/output.ts',
  'test/cli/phone-calls-page.test.ts',
  'test/cli/refused.ts',
  'test/phone/built-phones.ts',
  'test/phone/demo.test.ts',
  'test/phone/demo.ts',
  'test/realtime/try-visits.test.ts',
  'test/rmsg/kills.test.ts',
  'test/sms/demo.ts',
  'test/webhooks/demo.ts',
  'test/webhooks/serving.ts',
]

t.test('only the tests in test/process start the built program', (t) => {
  const starting = [...imports].filter(([, all]) => starters.some((starter) => all.includes(starter)))
  const others = starting.map(([file]) => file).filter((file) => !mayStart.test(file))
  t.same(others.toSorted(), stillStart)
  t.end()
})

t.test('CONTRIBUTING.md has every lane, and names no other', (t) => {
  const lanes = [...read('test/runner/lanes.mjs').matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, lane]) => lane)
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\| `([\w-]+)` \|/gm)].map(([, lane]) => lane)
  t.ok(lanes.length > 15)
  t.same(rows.toSorted(), lanes.toSorted())
  t.end()
})

t.test('a document that names a lane names one that exists', (t) => {
  const lanes = new Set([...read('test/runner/lanes.mjs').matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, lane]) => lane))
  for (const file of code.concat('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md')) {
    for (const [, lane] of read(file).matchAll(/make test-all LANE=([\w-]+)/g))
      t.ok(lanes.has(lane), `${file}: ${lane}`)
  }
  t.end()
})
