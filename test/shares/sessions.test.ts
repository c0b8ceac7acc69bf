/** One organization cannot take all voice sessions of a process. */
import t from 'tap'
import { startAdministered } from '../cli/administered.ts'
import { until } from '../process/machine.ts'
import { refusalOf } from '../session/refused-join.ts'
import { loopbackProviders, Page, startSession } from '../session/voice-session.ts'

const settings = { PARLEY_PROVIDERS: loopbackProviders, PARLEY_SESSIONS_MAX: '8' }

t.test('if one organization uses all its allowed sessions, another can still open sessions', async (t) => {
  const { parley, admin } = await startAdministered(t, settings)
  const [hostile, honest] = [await admin.organization('hostile'), await admin.organization('honest')]
  const waiting = await Promise.all(Array.from({ length: 9 }, () => startSession(hostile)))
  const own = await startSession(honest)
  for (const session of waiting.slice(0, 6)) await new Page(session).first('ready')
  for (const session of waiting.slice(6)) t.same(await refusalOf(session), [503, 'SERVICE_UNAVAILABLE'])
  await new Page(own).first('ready')
  const last = await Page.join(honest)
  t.same(await refusalOf(await startSession(honest)), [503, 'SERVICE_UNAVAILABLE'], 'all eight are taken')
  last.send({ type: 'end' })
  await until('the place is free', () => parley.gateway.waiting(0).calls === 7)
  t.same(await refusalOf(waiting[6]!), [503, 'SERVICE_UNAVAILABLE'], 'the place stays reserved')
  await Page.join(honest)
})

t.test('the only organization of a server may use all sessions', async (t) => {
  const { parley } = await startAdministered(t, settings)
  for (let joined = 0; joined < 8; joined += 1) await Page.join(parley)
  t.same(await refusalOf(await startSession(parley)), [503, 'SERVICE_UNAVAILABLE'])
})
