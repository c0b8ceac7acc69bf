import t from 'tap'
import { missingPackages } from '../../runtime/optional.ts'

t.test('missingPackages names the packages that are not installed', (t) => {
  const names = ['ws', '@parley-test/absent', 'nanoid', 'parley-test-absent']
  t.same(missingPackages(names), ['@parley-test/absent', 'parley-test-absent'])
  t.end()
})
