import module from 'node:module'
import t from 'tap'
import { valueFaults } from '../../runtime/json-value.ts'

type Load = (of: unknown, file: string) => void

t.test('the interpreter of schemas may take long to load', (t) => {
  const { _extensions: extensions } = module as unknown as { _extensions: Record<string, Load> }
  const load = extensions['.js'] as Load
  let slowly = 0
  // Each file takes longer than the time that a check has.
  extensions['.js'] = (of, file) => {
    if (file.includes('@cfworker')) {
      slowly += 1
      for (const endMs = performance.now() + 60; performance.now() < endMs; );
    }
    load(of, file)
  }
  t.teardown(() => (extensions['.js'] = load))
  const schema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] }
  t.same(valueFaults(schema, { count: 1 }), [])
  t.same(valueFaults(schema, {}), ['/count'], 'and later values are checked too')
  t.ok(slowly > 0, 'it was loaded slowly')
  t.end()
})
