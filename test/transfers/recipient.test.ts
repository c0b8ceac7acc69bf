/** The leg of a recipient when the database is away. */
import t from 'tap'
import { Recipient } from '../../domain/transfers/recipient.ts'
import { ManualClock, settled } from '../domain/fakes.ts'

t.test('a recipient who is dialled is not hung up when the database does not store the name of the leg', async (t) => {
  const clock = new ManualClock()
  const commands: string[] = []
  const events: string[] = []
  const names: string[] = []
  let isAway = true
  const line = {
    name: 'simulator' as const,
    dial: () => Promise.resolve({ carrierLegId: 'v3:leg' }),
    hangUp: () => Promise.resolve(void commands.push('hangUp')),
    answer: () => Promise.resolve(),
    reject: () => Promise.resolve(),
    bridge: () => Promise.resolve(),
    sendDtmf: () => Promise.resolve(),
    isAlive: () => Promise.resolve(true),
  }
  const stored = () => Promise.resolve()
  const recipient = new Recipient(
    {
      line,
      media: { expect: () => ({ url: '', token: '', sampleRateHz: 8000 }), forget() {} },
      legs: {
        insert: stored,
        answered: stored,
        ended: stored,
        dialed(_leg, name) {
          if (isAway) return Promise.reject(new Error('the database is away'))
          return Promise.resolve(void names.push(name))
        },
      },
      clock,
      log: { info() {}, warn() {}, error() {} },
      record: { line() {} },
      over() {},
    },
    {
      ...{ organizationId: 'org_1', test: true, id: 'leg_1', callId: 'call_1', party: 'recipient' },
      ...{ direction: 'outbound', line: 'simulator', carrierLegId: null, createdAtMs: 0 },
      ...{ answeredAtMs: null, endedAtMs: null, microUsdPerMinute: null },
    },
    { happened: (event) => void events.push(event), dialed: () => void events.push('dialed') },
  )
  const wanted = { ringingTimeoutS: 30, timeLimitS: 600, region: null, detectsMachine: null, headers: {} }
  await recipient.dial({ from: '+15005550100', to: '+15005550017', ...wanted }, false)
  await settled()
  t.same([events, commands], [['dialed'], []])
  isAway = false
  await recipient.look()
  await recipient.look()
  t.same(names, ['v3:leg'], 'the name is stored later, once')
  t.same([events, commands], [['dialed'], []])
})
