/** One request of the honest organization for each resource. Resolves with true if the request was served. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { callPath, chatBody, inviteOf, joinSession, post, recordingBody, speak, toolAgent } from './requests.ts'
import { trunkAddress, type World } from './world.ts'

const servedMsMax = 10_000
const served = async (status: Promise<number>) => (await status) === 200

export const probes = {
  answer: ({ honest }: World) => served(post(honest, chatBody('quick'))),
  stopped: ({ honest }: World) => served(post(honest, chatBody('stopped'))),
  recognition: ({ honest }: World) => served(post(honest, recordingBody(), callPath.transcribe)),
  voice: ({ honest }: World) => served(speak(honest, 'All lines are open.')),
  socket,
  session: async ({ honest }: World) => {
    const session = await joinSession(honest)
    session.close()
    return true
  },
  tool,
  invite,
} satisfies Record<string, (world: World) => Promise<boolean>>

export type Probe = keyof typeof probes

async function socket({ honest }: World): Promise<boolean> {
  const address = `${honest.url.replace('http', 'ws')}/v1/synthesize/stream`
  const socket = new WebSocket(address, 'service.realtime.v1', { headers: { authorization: `Bearer ${honest.key}` } })
  const signal = AbortSignal.timeout(servedMsMax)
  await once(socket, 'open', { signal })
  socket.send(JSON.stringify({ type: 'config', model: 'loopback/loopback' }))
  const [frame] = (await once(socket, 'message', { signal })) as [Buffer]
  socket.close()
  return frame.includes('ready')
}

let toolSession: Promise<WebSocket> | null = null

/** Asks the agent a question in one long session. Its tool is at the same host as the hostile tools. */
async function tool(world: World): Promise<boolean> {
  toolSession ??= toolAgent(world.honest, `${world.providerUrl}/tool`).then((id) => joinSession(world.honest, id))
  const session = await toolSession
  const answered = until(session, (text) => text.includes('"agent_message"') && text.includes('sunny'))
  session.send(JSON.stringify({ type: 'user_message', text: 'How is the weather?' }))
  return answered
}

function until(session: WebSocket, isAnswer: (text: string) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isServed: boolean) => {
      session.off('message', look)
      clearTimeout(timer)
      resolve(isServed)
    }
    const look = (data: Buffer, isBinary: boolean) => {
      if (!isBinary && isAnswer(data.toString())) end(true)
    }
    const timer = setTimeout(() => end(false), servedMsMax)
    session.on('message', look)
  })
}

let trunk: Promise<UdpSocket> | null = null

/** Calls a number over the honest organization's trunk. The number is unknown, so the final answer is a refusal. */
async function invite({ sipPort }: World): Promise<boolean> {
  trunk ??= openTrunk()
  const socket = await trunk
  const text = inviteOf({ address: trunkAddress.honest, port: socket.address().port }, '+15005550199')
  const callId = /Call-ID: (\S+)/.exec(text)?.[1] ?? ''
  return new Promise((resolve) => {
    const end = (isServed: boolean) => {
      socket.off('message', look)
      clearTimeout(timer)
      resolve(isServed)
    }
    const look = (bytes: Buffer) => {
      const answer = bytes.toString('latin1')
      if (answer.includes(callId) && /^SIP\/2.0 [3-6]/.test(answer)) end(true)
    }
    const timer = setTimeout(() => end(false), servedMsMax)
    socket.on('message', look)
    socket.send(text, sipPort, '127.0.0.1')
  })
}

async function openTrunk(): Promise<UdpSocket> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, trunkAddress.honest, resolve))
  return socket
}
