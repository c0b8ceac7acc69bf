/** An agent, a session with typed turns, and its call with call report and recording. */
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import {
  createSessionClient,
  type SessionMediaSocket,
  type SocketConstructor,
} from '../../../../generated/clients/typescript/session.ts'
import { baseUrl, platform, type Steps } from './settings.ts'

const questions = ['How are you?', 'Goodbye.']
const providers = ['loopback']
let agentId = ''
let sessionId = ''

export const sessionSteps: Steps = {
  async agent() {
    const { body } = await platform.createAgent({
      body: {
        name: 'Scenario',
        systemPrompt: 'Be brief.',
        intent: { language: 'en' },
        stackPreferences: { allowedProviders: { stt: providers, llm: providers, tts: providers } },
      },
    })
    agentId = body.id
    return { name: body.name, language: body.intent.language }
  },
  async session() {
    const { body } = await platform.createSession({ body: { agentId } })
    sessionId = body.sessionId
    const client = createSessionClient({
      ...{ baseUrl, token: body.transportToken, WebSocket: WebSocket as unknown as SocketConstructor },
    })
    return talk(client.sessionMedia({ id: sessionId }))
  },
  async call() {
    const { status, kind } = await ended()
    return { status, kind }
  },
  async report() {
    const { body } = await platform.getCallReport({ path: { id: sessionId } })
    return { turns: body.transcript.entries.map(({ source, text }) => `${source}: ${text}`) }
  },
  async recording() {
    const { body } = await platform.getCallRecordingAudio({ path: { id: sessionId } })
    const bytes = new Uint8Array(await new Response(body).arrayBuffer())
    return { starts: new TextDecoder().decode(bytes.slice(0, 4)), is_long: bytes.length > 10_000 }
  },
}

/** Types the next question after each answer, and hangs up after the last answer. */
function talk(socket: SessionMediaSocket): Promise<object> {
  const left = [...questions]
  const answers: string[] = []
  const next = () => {
    const text = left.shift()
    void socket.send(text === undefined ? { type: 'end' } : { type: 'user_message', text })
  }
  return new Promise((resolve, reject) => {
    socket.on('ready', next)
    socket.on('mark', ({ name }) => void socket.send({ type: 'played', mark: name }))
    socket.on('agent_message', ({ text, isFinal }) => {
      if (!isFinal) return
      answers.push(text)
      next()
    })
    socket.on('end', ({ reason }) => resolve({ answers, end: reason }))
    socket.closed.then(({ code }) => reject(new Error(`the socket closed with ${code}`))).catch(reject)
  })
}

/** Waits until the recording is stored. */
async function ended() {
  for (let tries = 0; tries < 200; tries++) {
    const [call, session] = [{ path: { id: sessionId } }, await platform.getSession({ path: { id: sessionId } })]
    if (session.body.recordingStatus === 'ready') return (await platform.getCall(call)).body
    await sleep(100)
  }
  throw new Error('the recording is not ready')
}
