import module from 'node:module'
import t, { type Test } from 'tap'
import { valueFaults } from '../../runtime/values/json-value.ts'

type Load = (of: unknown, file: string) => void

t.test('the time limit of a schema check excludes the loading of the validator', (t) => {
  const { _extensions: extensions } = module as unknown as { _extensions: Record<string, Load> }
  const load = extensions['.js'] as Load
  let slowly = 0
  // Makes the loading of modules slow: each file takes longer than a schema check's time limit.
  extensions['.js'] = (of, file) => {
    if (file.includes('@cfworker')) {
      slowly += 1
      for (const endMs = performance.now() + 60; performance.now() < endMs; );
    }
    load(of, file)
  }
  t.teardown(() => (extensions['.js'] = load))
  const schema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] }
  t.same(valueFaults(schema, { count: 1 }, 'org_1'), [])
  t.same(valueFaults(schema, {}, 'org_1'), ['/count is missing'], 'and later values are checked too')
  t.ok(slowly > 0, 'it was loaded slowly')
  t.end()
})

const unchecked = ['/ cannot be checked in time']
const slow = { type: 'string', pattern: '^(a+)+$' }
const slowly = `${'a'.repeat(40)}!`

t.test('a schema check that got no processor time is repeated a few times', (t) => {
  const checks = countChecks(t, { isWorking: false })
  t.same(valueFaults({ ...slow, title: 'a' }, slowly, 'org_1'), unchecked)
  t.equal(checks(), 21)
  t.end()
})

t.test(
  'a schema check that used its whole processor time is not repeated, and after three the schema is not checked',
  (t) => {
    const checks = countChecks(t, { isWorking: true })
    const schema = { ...slow, title: 'b' }
    for (const [value, count] of [
      [slowly, 1],
      [slowly, 2],
      [slowly, 3],
      ['aaa', 3],
    ] as const) {
      t.same(valueFaults(schema, value, 'org_1'), unchecked)
      t.equal(checks(), count, 'after three of them the schema is checked no more')
    }
    t.end()
  },
)

t.test('a check of endless schema references is stopped in time, even on a busy machine', (t) => {
  const checks = countChecks(t, { isWorking: false })
  t.same(valueFaults({ $ref: '#' }, 1, 'org_1'), unchecked)
  t.equal(checks(), 1)
  t.end()
})

t.test("after three timed-out checks of a schema an organization's values for it are refused for ten minutes", (t) => {
  const now = performance.now.bind(performance)
  let laterMs = 0
  performance.now = () => now() + laterMs
  t.teardown(() => Object.assign(performance, { now }))
  const checks = countChecks(t, { isWorking: true })
  const copy = () => ({ ...slow, title: 'copied' })
  for (const count of [1, 2, 3, 3]) {
    t.same(valueFaults(copy(), slowly, 'org_1'), unchecked)
    t.equal(checks(), count)
  }
  valueFaults(copy(), slowly, 'org_2')
  t.equal(checks(), 4, 'another organization has its own count')
  valueFaults({ ...copy(), title: 'changed' }, slowly, 'org_1')
  t.equal(checks(), 5, 'and so has another schema')
  laterMs = 600_001
  valueFaults(copy(), slowly, 'org_1')
  t.equal(checks(), 6)
  t.end()
})

/**
 * Replaces process.cpuUsage. Returns a function that counts the started schema checks, because each check reads the
 * used processor time.
 */
function countChecks(t: Test, { isWorking }: { isWorking: boolean }): () => number {
  const asked = t.capture(process, 'cpuUsage', (before?: NodeJS.CpuUsage) => ({
    user: before === undefined || !isWorking ? 0 : 50_000,
    system: 0,
  }))
  let begun = 0
  return () => {
    begun += asked().filter(({ args: [before] }) => before === undefined).length
    return begun
  }
}
