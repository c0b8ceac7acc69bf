/** Inbound calls at a trunk with several registrations: each call goes to the right connection. */
import t, { type Test } from 'tap'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { openTrunk, outgoingTo, plain, type TrunkSetup } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const connectionOf = (port: number, username: string, organizationId = `org_${username}`): SipConnection => ({
  ...outgoingTo(port, { register: true, username, password: 'open sesame' }),
  id: `sip_${username}`,
  organizationId,
  inbound: { username: null, password: null },
})

/**
 * Opens a trunk with registrations for these logins. Returns the call address for each login: the URI in its Contact.
 */
async function registeredAt(t: Test, usernames: readonly string[], more: TrunkSetup = {}, organizationId?: string) {
  let connections: SipConnection[] = []
  const trunk = await openTrunk(t, { known: [], outgoing: () => connections, ...more })
  const far = await trunk.peer()
  connections = usernames.map((username) => connectionOf(far.port, username, organizationId))
  // When the trunk line was opened, it found no registrations, so the test waits for the next look-up.
  await trunk.clock.advance(10_000)
  const contacts = new Map<string, string>()
  for (let number = 1; number <= usernames.length; number++) {
    const request = await far.request('REGISTER', number)
    far.respond(request, 200)
    const [, uri = ''] = /<([^<>]+)>/.exec(valueOf(request.headers, 'contact') ?? '') ?? []
    contacts.set(/sip:(\w+)@/.exec(request.from.uri)?.[1] ?? '', uri)
  }
  await wanted(() => trunk.registered.length === usernames.length, 'the looks')
  let calls = 0
  const called = async (uri: string, to = '<sip:+15550001111@trunk.test>') => {
    const number = ++calls
    far.send('INVITE', { callId: `call-${number}`, uri, to, headers: [sdpType], body: sdp() })
    const events = () => trunk.events.filter((event) => event.type === 'initiated')
    return await wanted(() => events()[number - 1], `call ${number}`)
  }
  const contactOf = (username: string) => contacts.get(username) ?? ''
  return { trunk, far, called, contactOf }
}

t.test(
  'each of several registrations at one trunk has a separate Contact, and gets the calls to this Contact',
  async (t) => {
    const { called, contactOf } = await registeredAt(t, ['one', 'two', 'three'])
    for (const username of ['three', 'one', 'two'])
      t.match(await called(contactOf(username)), { connectionId: `sip_${username}`, to: '+15550001111' })
    const plainly = `<${contactOf('two').replace(/@.*/, '@192.0.2.7:5099;transport=udp')}>`
    t.match(await called(plainly.slice(1, -1)), { connectionId: 'sip_two' }, 'the trunk has written another host')
  },
)

t.test('two SIP accounts of one organization at one trunk both receive their calls', async (t) => {
  const { called, contactOf } = await registeredAt(t, ['one', 'two'], {}, 'org_one')
  t.match(await called(contactOf('two')), { connectionId: 'sip_two' })
  t.match(await called(contactOf('one')), { connectionId: 'sip_one' })
})

t.test('a Contact stays the same after a restart, and differs between connections', async (t) => {
  const users = async () => {
    const { contactOf } = await registeredAt(t, ['one', 'two'])
    return ['one', 'two'].map((username) => contactOf(username).replace(/@.*/, ''))
  }
  const [before, after] = [await users(), await users()]
  t.same(before, after)
  t.equal(new Set(before).size, 2)
})

t.test('a call to a registered Contact never goes to another connection with the same address range', async (t) => {
  const stranger = { ...plain, id: 'sip_stranger', organizationId: 'org_stranger' }
  const numbers = { sip_stranger: ['+15550001111'] }
  for (const more of [{ known: [stranger] }, { known: [stranger], numbers }, { known: [stranger], wantsLogin: true }]) {
    const { called, contactOf } = await registeredAt(t, ['one', 'two'], more)
    t.match(await called(contactOf('two')), { connectionId: 'sip_two' })
  }
})

t.test("if the trunk calls a number instead of the Contact, the number's connection gets the call", async (t) => {
  const stranger = { ...plain, id: 'sip_stranger', organizationId: 'org_stranger' }
  const numbers = { sip_one: ['+15550001111'], sip_two: ['+15550002222'], sip_stranger: ['+15550003333'] }
  const { called } = await registeredAt(t, ['one', 'two'], { known: [stranger], numbers })
  for (const [number, connectionId] of [
    ['+15550002222', 'sip_two'],
    ['+15550001111', 'sip_one'],
    ['+15550003333', 'sip_stranger'],
  ] as const)
    t.match(await called(`sip:${number}@127.0.0.1`, `<sip:${number}@127.0.0.1>`), { connectionId, to: number })
})

t.test('if another connection with credentials imported the number first, a call needs its credentials', async (t) => {
  const { trunk, far } = await registeredAt(t, ['one'], { wantsLogin: true })
  far.send('INVITE', { callId: 'call-1', headers: [sdpType, `User-Agent: ${'trunk '.repeat(60)}`], body: sdp() })
  await far.response(401)
  t.same(trunk.types(), [])
})

t.test("a call to a registration's Contact from another address is refused", async (t) => {
  const { trunk, contactOf } = await registeredAt(t, ['one'])
  const stranger = await trunk.peer({ address: '127.0.0.2' })
  const uri = contactOf('one')
  stranger.send('INVITE', { callId: 'x', uri, headers: [sdpType, `User-Agent: ${'x'.repeat(300)}`], body: sdp() })
  await stranger.response(401)
  stranger.send('OPTIONS', { callId: 'y', uri })
  await quiet()
  t.equal(stranger.received.length, 1)
  t.same(trunk.types(), [])
})

t.test('the trunk of a registration may open many TCP sockets before its first call', async (t) => {
  const { trunk } = await registeredAt(t, ['one'])
  const peers: SipPeer[] = []
  for (let n = 0; n < 4; n++) peers.push(await trunk.peer({ transport: 'tcp' }))
  await quiet()
  t.ok(peers.every(({ isClosed }) => !isClosed))
})

t.test('a TCP socket stays open for ten minutes after a call to the Contact of a registration', async (t) => {
  const { trunk, contactOf } = await registeredAt(t, ['one'])
  const [calling, silent] = [await trunk.peer({ transport: 'tcp' }), await trunk.peer({ transport: 'tcp' })]
  calling.send('INVITE', { callId: 'call', uri: contactOf('one'), headers: [sdpType], body: sdp() })
  await trunk.event('initiated')
  await trunk.clock.advance(10_000)
  await wanted(() => silent.isClosed, 'the end of the silent socket')
  await trunk.clock.advance(580_000)
  await quiet()
  t.equal(calling.isClosed, false)
})

t.test('look-ups of unknown SIP senders leave capacity for the first call to a registered Contact', async (t) => {
  let asked = 0
  const ofAddress = () => {
    asked++
    return new Promise<never>(() => {})
  }
  const { trunk, called, contactOf } = await registeredAt(t, ['one'], { ofAddress, limits: { lookupsMax: 16 } })
  const stranger = await trunk.peer({ address: '127.0.0.2' })
  for (let n = 0; n < 20; n++) stranger.send('OPTIONS', { callId: `flood-${n}` })
  await wanted(() => asked === 2, 'all lookups of strangers')
  t.match(await called(contactOf('one')), { connectionId: 'sip_one' })
})
