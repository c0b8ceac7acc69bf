/** Writes a vendor's answer piece by piece to a response of the OpenAI stub. */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Sends one chat event every `everyMs`, until `next` returns null. */
export async function sendWords(response: ServerResponse, everyMs: number, next: () => string | null): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
  for (let word = next(); word !== null && !response.destroyed; word = next()) {
    response.write(event({ delta: { content: word } }))
    await sleep(everyMs)
  }
  response.end(`${event({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`)
}

/** 40 ms of 24 kHz PCM. */
export const pieceBytes = 1920

/** Sends audio in pieces. Calls `sent` when a piece is written. */
export async function sendAudio(
  response: ServerResponse,
  everyMs: number,
  pieces: number,
  sent: () => void,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'audio/pcm' })
  for (let i = 0; i < pieces; i++) {
    sent()
    response.write(Buffer.alloc(pieceBytes, 1))
    await sleep(everyMs)
  }
  response.end()
}
