/** One request of the honest organization for each resource. Throws if the request was not served. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { type EventEmitter, on } from 'node:events'
import type { WebSocket } from 'ws'
import {
  callPath,
  chatBody,
  inviteOf,
  joinSession,
  post,
  readySocket,
  recordingBody,
  speak,
  toolAgent,
} from './requests.ts'
import { trunkAddress, type World } from './world.ts'

const servedMsMax = 10_000
const served = async (answer: Promise<number>) => {
  const status = await answer
  if (status !== 200) throw new Error(status === 0 ? 'no answer in time' : `answered ${status}`)
}

export const probes = {
  answer: ({ honest }: World) => served(post(honest, chatBody('quick'))),
  stopped: ({ honest }: World) => served(post(honest, chatBody('stopped'))),
  recognition: ({ honest }: World) => served(post(honest, recordingBody(), callPath.transcribe)),
  voice: ({ honest }: World) => served(speak(honest, 'All lines are open.')),
  socket: async ({ honest }: World) => (await readySocket(honest)).close(),
  session: async ({ honest }: World) => {
    const session = await joinSession(honest)
    // If only the socket were closed, the session would still count against the limit on sessions for a while, so that
    // the client could reconnect.
    session.send(JSON.stringify({ type: 'end' }))
  },
  tool,
  invite,
} satisfies Record<string, (world: World) => Promise<void>>

export type Probe = keyof typeof probes

const toolSessions = new WeakMap<World, Promise<WebSocket>>()

/** Asks the agent a question in one long session. Its tool is at the same host as the hostile tools. */
async function tool(world: World): Promise<void> {
  const opened = toolSessions.get(world) ?? openToolSession(world)
  toolSessions.set(world, opened)
  const session = await opened
  const question = JSON.stringify({ type: 'user_message', text: 'How is the weather?' })
  const isAnswer = (text: string) => text.includes('"agent_message"') && text.includes('sunny')
  await untilAnswer(session, () => session.send(question), isAnswer)
}

const openToolSession = async (world: World) =>
  joinSession(world.honest, await toolAgent(world.honest, `${world.providerUrl}/tool`))

let trunk: Promise<UdpSocket> | null = null

/** Calls a number over the honest organization's trunk. The number is unknown, so the final answer is a refusal. */
async function invite({ sipPort }: World): Promise<void> {
  trunk ??= openTrunk()
  const socket = await trunk
  const text = inviteOf({ address: trunkAddress.honest, port: socket.address().port }, '+15005550199')
  const callId = /Call-ID: (\S+)/.exec(text)?.[1] ?? ''
  const isAnswer = (answer: string) => answer.includes(callId) && /^SIP\/2.0 [3-6]/.test(answer)
  await untilAnswer(socket, () => socket.send(text, sipPort, '127.0.0.1'), isAnswer)
}

async function openTrunk(): Promise<UdpSocket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, trunkAddress.honest, resolve))
  return socket
}

/** Sends a message and waits for the message that answers it. */
async function untilAnswer(socket: EventEmitter, send: () => void, isAnswer: (text: string) => boolean): Promise<void> {
  const messages = on(socket, 'message', { signal: AbortSignal.timeout(servedMsMax) })
  send()
  for await (const [message] of messages) if (isAnswer(String(message))) return
}
