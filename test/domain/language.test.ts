import t from 'tap'
import { readLanguage, spoken } from '../../domain/catalog/language.ts'
import { thrownFault } from './fakes.ts'
import { routerError } from './router-error.ts'

t.test('languages are BCP 47 tags, and a provider receives a regional tag only if it lists that tag', (t) => {
  t.same(readLanguage('ES-mx'), { tag: 'es-MX', base: 'es' })
  t.same(readLanguage('zh-hant-tw'), { tag: 'zh-Hant-TW', base: 'zh' })
  for (const tag of ['', 'x', 'english please', 'en_US']) {
    const fault = thrownFault(() => readLanguage(tag))
    t.match(routerError(fault), { code: 'invalid_parameter', param: '/language' }, tag)
    t.equal(fault.detail.cause, undefined, "so the client's mistake has no line in the log")
  }
  t.equal(spoken(['es'], readLanguage('es-MX')), 'es')
  t.equal(spoken(['*'], readLanguage('es-MX')), 'es')
  t.equal(spoken(['es', 'es-MX'], readLanguage('es-MX')), 'es-MX')
  t.end()
})
