/** Makes a voice call to an agent on a test clock: words are sent as tones, like audio from a microphone. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { InTime } from '../phone/phones.ts'
import { call } from '../platform/setup.ts'
import { speak } from '../speech/tones.ts'

const rateHz = 16_000
const frameMs = 20
const frameBytes = (rateHz / 1000) * frameMs * 2
const silence = Buffer.alloc(frameBytes)
const callMsMax = 180_000

type Started = { sessionId: string; transportToken: string; transportUrl: string }
type Frame = { type: string; name?: string; isFinal?: boolean }

export async function startSession(target: InTime, wanted: object): Promise<Started> {
  const answer = await call(target, 'POST', '/v1/sessions', { ttsOptions: { sampleRate: rateHz }, ...wanted })
  if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}: ${answer.text}`)
  return answer.json<Started>()
}

/** Speaks each text after the agent's previous answer, and hangs up after the last answer. */
export async function speakTo(
  { clock }: InTime,
  { transportUrl, transportToken }: Started,
  texts: readonly string[],
): Promise<void> {
  const speech = texts.map((text) => framesOf(speak(text, rateHz).samples))
  const socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`])
  const closed = once(socket, 'close')
  let answers = 0
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) return
    const frame = JSON.parse(data.toString()) as Frame
    if (frame.type === 'mark') socket.send(JSON.stringify({ type: 'played', mark: frame.name }))
    if (frame.type === 'agent_message' && frame.isFinal) answers++
  })
  await clock.during(once(socket, 'open'))
  let queue: Buffer[] = []
  const sendFrame = () => {
    if (socket.readyState !== WebSocket.OPEN) return
    // Half a second passes between an answer and the next words.
    if (queue.length === 0 && answers > texts.length - speech.length && speech.length > 0)
      queue = [...Array.from({ length: 25 }, () => silence), ...(speech.shift() ?? [])]
    if (answers > texts.length) socket.send('{"type":"end"}')
    socket.send(queue.shift() ?? silence)
    clock.after(frameMs, sendFrame)
  }
  sendFrame()
  await clock.during(closed, callMsMax)
}

function framesOf(samples: Int16Array): Buffer[] {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  return Array.from({ length: Math.ceil(bytes.length / frameBytes) }, (_, i) =>
    Buffer.concat([bytes.subarray(i * frameBytes, (i + 1) * frameBytes), silence]).subarray(0, frameBytes),
  )
}
