/** A call by voice with an agent of a running Parley: recorded prompts into the microphone, in real time. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { FixtureName } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'

const rateHz = 16_000
const frameMs = 20
const frameBytes = (rateHz / 1000) * frameMs * 2
const silence = Buffer.alloc(frameBytes)
/** A busy machine takes several times as long as the words. */
const callMsMax = 180_000

type Started = { sessionId: string; transportToken: string; transportUrl: string }
type Frame = { type: string; name?: string; isFinal?: boolean }

export async function startSession(target: { url: string; key: string }, wanted: object): Promise<Started> {
  const answer = await fetch(`${target.url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ttsOptions: { sampleRate: rateHz }, ...wanted }),
  })
  if (answer.status !== 201) throw new Error(`a session was answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Started
}

/** Speaks each prompt when the agent's answer to the one before is over, and hangs up after the last answer. */
export async function speakTo({ transportUrl, transportToken }: Started, prompts: readonly FixtureName[]) {
  const speech = await Promise.all(prompts.map(async (name) => framesOf(await speechAt(name, rateHz))))
  const socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`])
  let [answers, isOver] = [0, false]
  socket.on('close', () => (isOver = true))
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) return
    const frame = JSON.parse(data.toString()) as Frame
    if (frame.type === 'mark') socket.send(JSON.stringify({ type: 'played', mark: frame.name }))
    if (frame.type === 'agent_message' && frame.isFinal) answers++
  })
  await once(socket, 'open')
  const startedMs = performance.now()
  let queue: Buffer[] = []
  for (let tick = 0; !isOver; tick++) {
    if (tick * frameMs > callMsMax) throw new Error(`no end of the call after ${answers} answers`)
    // Half a second passes between an answer and the next words.
    if (queue.length === 0 && answers > prompts.length - speech.length && speech.length > 0)
      queue = [...Array.from({ length: 25 }, () => silence), ...(speech.shift() ?? [])]
    if (answers > prompts.length) socket.send('{"type":"end"}')
    socket.send(queue.shift() ?? silence)
    await sleep(Math.max(0, startedMs + tick * frameMs - performance.now()))
  }
}

function framesOf(samples: Int16Array): Buffer[] {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  return Array.from({ length: Math.ceil(bytes.length / frameBytes) }, (_, i) =>
    Buffer.concat([bytes.subarray(i * frameBytes, (i + 1) * frameBytes), silence]).subarray(0, frameBytes),
  )
}
