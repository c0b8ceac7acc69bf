/** The other side for trunk audio: a socket that keeps received packets. */
import { createSocket, type Socket } from 'node:dgram'
import { setImmediate as turn } from 'node:timers/promises'
import { type RtpPacket, readPacket } from '../../providers/trunk/rtp/packet.ts'

export type RtpPeer = { socket: Socket; got: RtpPacket[]; port: number }

export async function openRtpPeer(t: { teardown(run: () => void): void }, address = '127.0.0.1'): Promise<RtpPeer> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  t.teardown(() => socket.close())
  const got: RtpPacket[] = []
  socket.on('message', (datagram) => {
    const packet = readPacket(datagram)
    if (packet !== null) got.push(packet)
  })
  return { socket, got, port: socket.address().port }
}

/** Waits in real time until the datagrams have arrived, because the test clock does not move them. */
export async function arrived(is: () => boolean): Promise<void> {
  for (let turns = 0; turns < 20_000 && !is(); turns++) await turn()
}
