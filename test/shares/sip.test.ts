/**
 * SIP requests that flood the server, from one organization's trunk and from unknown IP addresses, leave room for
 * another organization's calls.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { startPhones } from '../phone/phones.ts'
import { openAdministration } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { type Sent, SipPeer, sdp, sdpType } from '../trunk/sip-peer.ts'
import { importInbound, trunkEnv } from '../trunk/trunk-server.ts'

const sipPort = await freePort()
const phones = await startPhones({
  ...trunkEnv(sipPort),
  PARLEY_SIP_TRANSACTIONS_MAX: '64',
  PARLEY_SIP_LOOKUPS_MAX: '8',
})
t.teardown(() => phones.close())
const { clock } = phones
const admin = await openAdministration(phones.server)
t.teardown(() => admin.close())

/** Makes a trunk at an IP address, with one number and an agent. */
async function trunkAt(target: Target, address: string, e164: string): Promise<SipPeer> {
  await importInbound(target, `${address}/32`, e164)
  return await peerAt(address)
}

async function peerAt(address: string): Promise<SipPeer> {
  const peer = await SipPeer.open({ port: sipPort, address, clock })
  t.teardown(() => peer.close())
  return peer
}

const invite = (callId: string, number: string): Sent => ({
  ...{ callId, uri: `sip:${number}@127.0.0.1`, headers: [sdpType], body: sdp(), branch: `z9hG4bK-${callId}` },
})

t.test('many SIP requests of one trunk or of unknown addresses do not block another trunk', async (t) => {
  const hostile = await trunkAt(phones, '127.0.0.2', '+15005550141')
  const honest = await trunkAt(await admin.organization('two'), '127.0.0.3', '+15005550142')
  const stranger = await peerAt('127.0.0.4')
  honest.send('OPTIONS', { callId: 'first' })
  await honest.response(200, 'OPTIONS')
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 30; n++) {
      const id = `${round}-${n}`
      hostile.send('INVITE', invite(`hostile-${id}`, '+15005550149'))
      hostile.send('OPTIONS', { callId: `options-${id}` })
      stranger.send('INVITE', invite(`stranger-${id}`, '+15005550142'))
      stranger.send('BYE', { callId: `bye-${id}`, to: '<sip:x@127.0.0.1>;tag=x' })
      stranger.send('CANCEL', { callId: `cancel-${id}` })
      await turn()
    }
    const callId = `honest-${round}`
    honest.send('INVITE', invite(callId, '+15005550142'))
    const { to } = await honest.response(200, 'INVITE', round + 1)
    honest.send('ACK', { ...invite(callId, '+15005550142'), to: to.text })
    honest.send('BYE', { callId, to: to.text, cseq: 2 })
    await clock.advance(6_000)
  }
  t.pass('each call is answered without a repeat')
})
