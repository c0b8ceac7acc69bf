/** Attacks with 5,000 connections. Each connection stops before its first request or message is whole. */
import { connect, type Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { filesMax } from '../load.ts'
import { headOf, keepOpen, open } from './connections.ts'
import { callPath, chatBody, inviteOf, realtimeSocket } from './requests.ts'
import { strangerAddress, trunkAddress, type World } from './world.ts'

const connections = 5_000
/** The maximum number of other open files in the attacker or in the server, besides these connections. */
const otherFiles = 500
/** Opens a thousand connections in a second. The server closes a silent connection after about 10 s. */
const pace = { pauseMs: 50, lifeMs: 10_000 }
const chat = chatBody('quick')
const half = (text: string) => text.slice(0, text.length / 2)

export const halfOpen = {
  silentConnections: (world: World) => keepHalfOpen(() => open(world)),
  halfHeads: (world: World) => keepHalfOpen(() => sent(open(world), half(headOf(world, callPath.chat, chat.length)))),
  halfBodies: (world: World) =>
    keepHalfOpen(() => sent(open(world), headOf(world, callPath.chat, chat.length) + half(chat))),
  /** Every second body goes to a path without keys. On other paths a request without a key is refused at its head. */
  keylessHalfBodies: (world: World) =>
    keepHalfOpen((at) => sent(open(world), keylessHead(world, at % 2 === 0 ? callPath.chat : eventsPath) + half(chat))),
  halfUpgrades: (world: World) => keepHalfOpen(() => sent(open(world), half(upgradeHead(world)))),
  silentSockets: ({ hostile }: World) => keepHalfOpen(() => realtimeSocket(hostile)),
  silentTrunks: (world: World) => keepHalfOpen((at) => openSip(world, sipAddress(at))),
  halfSipMessages: (world: World) =>
    keepHalfOpen((at) => {
      const address = sipAddress(at)
      return sent(openSip(world, address), half(inviteOf({ address, port: world.sipPort }, '+15005559000')))
    }),
}

function keepHalfOpen(open: (at: number) => Socket | WebSocket): Promise<void> {
  const needed = connections + otherFiles
  if (filesMax() < needed)
    throw new Error(`a process may open ${filesMax()} files, but ${needed} are needed (ulimit -n)`)
  const read = (at: number) => {
    const socket = open(at)
    // Without reading, a socket does not notice the server's close after an answer, so the socket would not be
    // replaced.
    socket.resume()
    return socket
  }
  return keepOpen(connections, read, pace)
}

function sent(socket: Socket, text: string): Socket {
  socket.write(text)
  return socket
}

/** A carrier's requests to this path come without an API key. */
const eventsPath = '/carrier/simulator/webhooks'

const keylessHead = (world: World, path: string) =>
  headOf(world, path, chat.length).replace(/Authorization: .*\r\n/, '')

const upgradeHead = ({ hostile }: World) =>
  [
    'GET /v1/synthesize/stream HTTP/1.1',
    'Host: parley',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: service.realtime.v1',
    `Authorization: Bearer ${hostile.key}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ].join('\r\n')

/** Half of the connections come from the hostile organization's trunk, and half from an unknown IP address. */
const sipAddress = (at: number) => (at % 2 === 0 ? trunkAddress.hostile : strangerAddress)

const openSip = ({ sipPort }: World, localAddress: string) =>
  connect({ host: '127.0.0.1', port: sipPort, localAddress })
