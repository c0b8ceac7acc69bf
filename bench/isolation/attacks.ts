/** The hostile organization's attacks, with one key. Each attack goes on until its process ends. */
import { createSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { headOf, keepOpen, open } from './connections.ts'
import { halfOpen } from './half-open.ts'
import {
  callPath,
  chatBody,
  inviteOf,
  joinSession,
  optionsOf,
  post,
  realtimeSocket,
  recordingBody,
  type SipSender,
  speak,
  toolAgent,
} from './requests.ts'
import { strangerAddress, trunkAddress, type World } from './world.ts'

/** The attacker uses this multiple of the resource's limit, so it also competes for other organizations' shares. */
const overLimit = 1.5
const requests = 400 * overLimit
const streams = 64 * 4
const sessions = 40 * overLimit
/** The maximum number of sessions that an organization can have while another organization has sessions too. */
const toolSessions = 28
const uploads = 24
const uploadBytes = 16 * 1024 * 1024
const packetsASecond = 170

export const attacks = {
  /** Opens streams and reads nothing after the status line. */
  unreadStreams: (world: World) => keepOpen(streams, () => unreadStream(world)),
  hangingRequests: (world: World) => keepOpen(requests, () => sendWhole(world, chatBody('hanging'))),
  /** Sends a body slowly: two bytes in each second. */
  slowBodies: (world: World) => keepOpen(requests, () => slowBody(world)),
  /** Sends most bytes in a recording at once, and then a byte now and then. */
  heldUploads: (world: World) => keepOpen(uploads, () => heldUpload(world)),
  idleSockets: (world: World) => keepOpen(requests, () => idleSocket(world)),
  joinedSessions: async ({ hostile }: World) => {
    for (let count = 0; ; count++) {
      const session = await joinSession(hostile).catch(() => null)
      session?.on('error', () => {})
      if (count >= sessions || session === null) await sleep(200)
    }
  },
  hangingTools: async (world: World) => {
    const agentId = await toolAgent(world.hostile, `${world.providerUrl}/hang`)
    for (let count = 0; count < toolSessions; count++) {
      const session = await joinSession(world.hostile, agentId)
      const ask = () => session.send(JSON.stringify({ type: 'user_message', text: 'How is the weather?' }))
      ask()
      setInterval(ask, 11_000)
    }
  },
  stopWords: async ({ hostile }: World) => {
    const body = JSON.stringify({ ...JSON.parse(chatBody('stopped')), stop: ['h'] })
    for (;;) {
      await post(hostile, body)
      await sleep(200)
    }
  },
  recognitions: (world: World) => repeat(16, () => post(world.hostile, recordingBody(), callPath.transcribe)),
  longTexts: (world: World) => repeat(64, () => speak(world.hostile, 'All of the lines are open today. '.repeat(100))),
  sipOptions: (world: World) => flood(world, trunkAddress.hostile, optionsOf),
  sipInvites: (world: World) => flood(world, trunkAddress.hostile, inviteToUnknown),
  strangersOptions: (world: World) => flood(world, strangerAddress, optionsOf),
  strangersInvites: (world: World) => flood(world, strangerAddress, inviteToUnknown),
  ...halfOpen,
} satisfies Record<string, (world: World) => Promise<unknown>>

export type Attack = keyof typeof attacks

function unreadStream(world: World): Socket {
  const socket = sendWhole(world, chatBody('endless', true))
  socket.once('data', () => socket.pause())
  return socket
}

function sendWhole(world: World, body: string): Socket {
  const socket = open(world)
  socket.write(headOf(world, callPath.chat, body.length) + body)
  return socket
}

function slowBody(world: World): Socket {
  const socket = open(world)
  socket.write(headOf(world, callPath.chat, 4_000))
  const timer = setInterval(() => socket.write('  '), 1_000)
  socket.once('close', () => clearInterval(timer))
  return socket
}

function heldUpload(world: World): Socket {
  const socket = open(world)
  const type = 'multipart/form-data; boundary=b'
  socket.write(headOf(world, callPath.transcribe, uploadBytes, type))
  socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n')
  socket.write(Buffer.alloc(uploadBytes - 100_000))
  const timer = setInterval(() => socket.write('    '), 1_000)
  socket.once('close', () => clearInterval(timer))
  return socket
}

function idleSocket({ hostile }: World): WebSocket {
  const socket = realtimeSocket(hostile)
  socket.once('open', () => socket.send(JSON.stringify({ type: 'config', model: 'loopback/loopback' })))
  const timer = setInterval(() => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'text', text: 'a' }))
  }, 10_000)
  socket.once('close', () => clearInterval(timer))
  return socket
}

/** Repeats a request, with this many requests at a time. */
async function repeat(lanes: number, send: () => Promise<unknown>): Promise<void> {
  const lane = async () => {
    for (;;) if ((await send()) !== 200) await sleep(50)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Sends 10,000 packets in a minute from this IP address. */
async function flood(
  { sipPort }: World,
  address: string,
  textOf: (sender: SipSender, count: number) => string,
): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  const sender = { address, port: socket.address().port }
  for (let count = 0; ; count++) {
    socket.send(textOf(sender, count), sipPort, '127.0.0.1')
    if (count % 10 === 9) await sleep(10_000 / packetsASecond)
  }
}

const inviteToUnknown = (sender: SipSender, count: number) => inviteOf(sender, `+1500555${9000 + (count % 999)}`)
