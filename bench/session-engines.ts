/**
 * The session bench's stub engines for speech and LLM, in one process: recognition that answers 30 ms after `Finalize`
 * (Deepgram's protocol), an LLM with six chunks 10 ms apart, and a voice in 20 ms chunks, the first after 20 ms
 * (OpenAI's protocol).
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'

const said = 'Please book a table for two.'
const answer = ['Of course. ', 'I can ', 'do that ', 'for you ', 'this ', 'evening.']
const sttMs = 30
const llmMs = 10
const ttsMs = 20
const interimEveryMs = 200
const voiceRateHz = 24_000
/** The bytes in a millisecond of PCM16 at 16 kHz. */
const bytesPerMs = 32
/** A sample counts as speech if it is this loud. */
const loud = 1000

const server = createServer((request, response) => {
  void (request.url?.endsWith('/chat/completions') ? generate(request, response) : speak(request, response))
})
new WebSocketServer({ server }).on('connection', transcribe)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))

async function generate(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await bodyOf(request)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (delta: object, finish: string | null) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  for (const content of answer) {
    await sleep(llmMs)
    chunk({ role: 'assistant', content }, null)
  }
  chunk({}, 'stop')
  response.end(
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat', choices: [], usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 } })}\n\ndata: [DONE]\n\n`,
  )
}

/** Answers with 60 ms of sound for each character, all at once after the first chunk. */
async function speak(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { input = '' } = JSON.parse(await bodyOf(request)) as { input?: string }
  await sleep(ttsMs)
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  const chunk = Buffer.alloc((voiceRateHz / 50) * 2)
  for (let at = 0; at < chunk.length / 2; at++) chunk.writeInt16LE(3000 * Math.sin(at / 5), at * 2)
  for (let count = Math.ceil(input.length * 3); count > 0; count--) response.write(chunk)
  response.end()
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  return body
}

/** Recognizes all speech as the same words. As with Deepgram, a result covers all audio since the last final result. */
function transcribe(socket: WebSocket): void {
  let loudMs = 0
  let lastInterimMs = 0
  let audioMs = 0
  let finalMs = 0
  const results = (transcript: string, flags: object) =>
    socket.send(
      JSON.stringify({
        type: 'Results',
        start: finalMs / 1000,
        duration: (audioMs - finalMs) / 1000,
        channel: { alternatives: [{ transcript, confidence: 0.9, words: [] }] },
        is_final: false,
        speech_final: false,
        ...flags,
      }),
    )
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      audioMs += data.length / bytesPerMs
      loudMs += loudMsOf(data)
      if (loudMs - lastInterimMs < interimEveryMs) return
      lastInterimMs = loudMs
      setTimeout(() => results(said, {}), sttMs)
      return
    }
    if (!data.includes('Finalize')) return
    const transcript = loudMs > 0 ? said : ''
    loudMs = lastInterimMs = 0
    setTimeout(() => {
      results(transcript, { is_final: true, from_finalize: true })
      finalMs = audioMs
    }, sttMs)
  })
}

function loudMsOf(bytes: Buffer): number {
  for (let at = 0; at + 1 < bytes.length; at += 16)
    if (Math.abs(bytes.readInt16LE(at)) > loud) return bytes.length / bytesPerMs
  return 0
}
