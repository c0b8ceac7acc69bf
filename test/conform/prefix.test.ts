/** `parley conform` against a server whose headers and subprotocols have another prefix. */
import t from 'tap'
import { conform } from '../../conform/conform.ts'
import { startAdministered } from '../cli/administered.ts'

t.test('a server with another header prefix has no failure and no warning', async (t) => {
  const { parley, admin } = await startAdministered(t, { PARLEY_HEADER_PREFIX: 'Acme' })
  const { key } = await admin.organization('with a prefix', { scopes: ['router', 'platform', 'realtime'] })
  const keys = { key, testKey: null, keyOfLesserScope: null }
  const only = ['router', 'session', 'getAgent', 'createSpeech', 'sessionMedia']
  const { targets } = await conform({ url: parley.url, keys, spends: false, strict: true, recordTo: null, only })
  const outcomes = targets.flatMap(({ id, outcomes }) => outcomes.map((outcome) => ({ id, ...outcome })))
  t.same(
    outcomes.filter(({ verdict }) => verdict === 'failed'),
    [],
  )
  const made = (id: string, number: number) => outcomes.find((each) => each.id === id && each.check === number)?.verdict
  const verdicts = [made('router', 4), made('session', 4), made('getAgent', 33), made('createSpeech', 50)]
  t.same([...verdicts, made('sessionMedia', 54)], ['passed', 'passed', 'passed', 'passed', 'passed'])
})
