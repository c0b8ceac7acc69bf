/** A SIP trunk line with one outgoing trunk, whose other side is a simulated SIP peer. */
import { type Test } from 'tap'
import type { SipOutbound } from '../../domain/ports/sip-connections.ts'
import { legId, openTrunk, outgoingTo, toDial } from './setup.ts'
import { sdp, sdpType } from './sip-peer.ts'

export async function openOut(t: Test, more: Partial<SipOutbound> = {}) {
  let port = 0
  const trunk = await openTrunk(t, { outgoing: () => [outgoingTo(port, more)] })
  const far = await trunk.peer()
  port = far.port
  return { trunk, far }
}

export const answer = { headers: [sdpType], body: sdp({ port: 41_000, types: '8 101' }) }

const { signal } = new AbortController()

export async function talking(t: Test) {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial(), signal)
  const invite = await far.request('INVITE')
  far.respond(invite, 100)
  const ref = { legId, ...(await dialing) }
  far.respond(invite, 200, answer)
  await trunk.event('stream_started')
  return { trunk, far, invite, ref }
}
