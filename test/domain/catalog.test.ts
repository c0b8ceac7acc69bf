import t from 'tap'
import { Catalog } from '../../domain/catalog/catalog.ts'
import { model, provider } from './fakes.ts'

t.test('a provider whose rows appear later is routed to without a restart', (t) => {
  const late = provider('late', [])
  const catalog = new Catalog([provider('a', [model('llm')]), late])
  const before = { version: catalog.version(), digest: catalog.digest() }
  t.equal(catalog.stage('llm').length, 1)
  t.equal(catalog.version(), before.version, 'nothing moved')
  late.models = provider('late', [model('llm')]).models
  t.not(catalog.version(), before.version)
  t.same(
    catalog.stage('llm').map(({ provider: { id } }) => id),
    ['a', 'late'],
  )
  t.not(catalog.digest(), before.digest)
  t.end()
})
