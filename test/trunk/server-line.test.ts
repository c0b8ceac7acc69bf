/** The SIP trunk line as a server opens it: its settings, and a call whose audio reaches the leg that expects it. */
import t, { type Test } from 'tap'
import { checkSip } from '../../app/settings.ts'
import { createSipTrunks } from '../../app/trunks.ts'
import { type LegEvent, PhoneLineError } from '../../domain/ports/phone-line.ts'
import type { SipConnections } from '../../domain/ports/sip-connections.ts'
import { ExpectedLegs } from '../../handlers/carrier/expected-legs.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { TestClock } from '../clock.ts'
import { freePort } from '../process/machine.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { readFixture } from '../speech/fixtures.ts'
import { wholeProcess } from '../time/quiet.ts'
import { keptDialogs, legId, limits, outgoingTo, toDial } from './setup.ts'
import { wanted } from './sip-peer.ts'
import { SipPhone } from './sip-phone.ts'

const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const log = { info() {}, warn() {}, error() {} }
const settings = {
  host: '127.0.0.1',
  port: 5060,
  publicAddress: null,
  importsNeedApproval: null,
  allowedAddressesMax: 262_144,
  rtpPorts: '43200-43298',
  ...limits,
}

async function serving(t: Test, connections: Partial<SipConnections>) {
  const clock = new TestClock({ quiet: wholeProcess })
  const sipPort = await freePort()
  const legs = new ExpectedLegs({ ownerId: 'this', addressFor: () => 'ws://127.0.0.1', rateHz: 8000 })
  const config = { sip: { ...settings, port: sipPort }, outbound: { allowedSubnets: ['127.0.0.1/32'] } } as never
  const store = { sipConnections: connections as SipConnections, trunkDialogs: keptDialogs() as never }
  const parts = { config, store, owners: new Owners(), clock, log: log as never }
  const trunks = createSipTrunks(parts, legs)
  if (trunks === null) throw new Error('there is no line')
  t.teardown(() => clock.during(trunks.line.close()))
  const events: LegEvent[] = []
  await trunks.open({
    received: (_line, event) => {
      events.push(event)
      return Promise.resolve()
    },
  })
  const sinks: RecordingSink[] = []
  const expect = () =>
    legs.expect({
      legId,
      organizationId: 'org_1',
      line: 'trunk',
      sampleRateHz: 16_000,
      joined: (transport) => {
        const sink = new RecordingSink(transport)
        sink.onAudio = (samples) => transport.frame(samples)
        sinks.push(sink)
        return sink
      },
      failed: () => {},
    })
  const again = () => createSipTrunks(parts, legs)
  return { clock, sipPort, line: trunks.line, events, sinks, expect, again }
}

t.test("an inbound call is answered by its leg, and each side receives the other's audio", async (t) => {
  const inbound = { username: null, password: null }
  const connection = { organizationId: 'org_one', id: 'sip_in', outbound: null, inbound }
  const server = await serving(t, {
    ofAddress: () => Promise.resolve([connection]),
    hasAddress: () => Promise.resolve(true),
    wantsLogin: () => Promise.resolve(false),
    noteCall: () => Promise.resolve(),
  })
  const phone = await SipPhone.open(t, server)
  const answered = phone.call('+15005550100', '+15005550006')
  const announced = await wanted(() => server.events[0], 'the call', server.clock)
  t.match(announced, { type: 'initiated', to: '+15005550100', from: '+15005550006', connectionId: 'sip_in' })
  const ref = { legId, carrierLegId: announced.carrierLegId }
  const address = server.expect()
  await server.clock.during(server.line.answer(ref, address))
  await t.rejects(server.line.answer(ref, address), new PhoneLineError('refused'), 'the address opens once')
  await answered
  phone.say(voice)
  await t.resolves(phone.receives(voice))
  phone.hangUp()
  await wanted(() => server.events.find(({ type }) => type === 'hangup'), 'the end of the call', server.clock)
})

t.test('an outbound call uses the SIP connection of its dial command', async (t) => {
  let port = 0
  const find = (id: string) => Promise.resolve(id === 'sip_out' ? outgoingTo(port, { host: '127.0.0.1' }) : null)
  const server = await serving(t, { find, noteAnswer: () => Promise.resolve() })
  const phone = await SipPhone.open(t, server)
  port = phone.peer.port
  const answering = phone.answer()
  const { signal } = new AbortController()
  const other = server.line.dial(toDial({ connectionId: 'sip_other', media: server.expect() }), signal)
  await t.rejects(other, new PhoneLineError('refused'))
  const { carrierLegId } = await server.clock.during(server.line.dial(toDial({ media: server.expect() }), signal))
  t.match(await answering, { from: 'sip:+15550001111@127.0.0.1', to: /^sip:\+15557654321@/ })
  phone.say(voice)
  await t.resolves(phone.receives(voice))
  await server.clock.during(server.line.hangUp({ legId, carrierLegId }))
  await phone.peer.request('BYE')
})

t.test('hosts at forbidden addresses are not called over SIP', async (t) => {
  const find = () => Promise.resolve(outgoingTo(5060, { host: '127.0.0.2' }))
  const server = await serving(t, { find, noteAnswer: () => Promise.resolve() })
  t.match(await server.line.check('sip_out'), { error: 'unreachable' })
  const { signal } = new AbortController()
  const dialing = server.line.dial(toDial({ media: server.expect() }), signal)
  t.match(await dialing.catch((error: unknown) => error), {
    kind: 'unreachable',
    cause: { code: 'ERR_ADDRESS_REFUSED' },
  })
})

t.test('if the SIP port is in use, the start fails with an error that has the port', async (t) => {
  const { sipPort, again } = await serving(t, {})
  const second = again()
  t.teardown(() => second?.line.close())
  await t.rejects(second?.open({ received: () => Promise.resolve() }) ?? Promise.resolve(), {
    message: `sip.port: ${sipPort} at 127.0.0.1 is in use`,
  })
})

t.test('SIP settings that cannot work are refused', (t) => {
  const check = (sip: object, processes = 1) => checkSip({ sip: { ...settings, ...sip }, processes })
  t.doesNotThrow(() => check({}))
  t.doesNotThrow(() => check({ port: null, host: 'nowhere', rtpPorts: '9000-1000' }, 4), 'they are off')
  t.throws(() => check({}, 2), /set PARLEY_PROCESSES to 1 \(it is 2\)/)
  t.throws(() => check({ host: 'voice.example.com' }), /sip\.host: voice\.example\.com is no IP address/)
  t.throws(() => check({ host: '0.0.0.0' }), /sip\.publicAddress: is required/)
  t.throws(() => check({ publicAddress: 'voice.example.com' }), /sip\.publicAddress: .* is no IP address/)
  t.throws(() => check({ rtpPorts: '9000-1000' }), /sip\.rtpPorts: 9000-1000 is no range of ports/)
  t.throws(() => check({ rtpPorts: '9000-70000' }), /sip\.rtpPorts/)
  t.equal(createSipTrunks({ config: { sip: { ...settings, port: null } } } as never, {} as never), null)
  t.end()
})
