/**
 * Tests uploads at 4 KiB/s. If a body is slower than 16 KiB/s, uWebSockets.js on the main TCP port ends it after about
 * 11 s, so these uploads last much longer. PARLEY_TEST_SLOW=1 sends a whole MiB, which takes 256 s: run it with `npx
 * tap --timeout=400`.
 */
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { freePort } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { type FixtureName, readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import {
  type Answer,
  ask,
  type FormPart,
  form,
  postForm,
  postJson,
  responses,
  send,
  transcriptionParts,
  transcriptions,
} from './requests.ts'

const slow = process.env['PARLEY_TEST_SLOW'] === '1'
const audioBytes = slow ? 1024 * 1024 : 96 * 1024
const bytesPerSecond = 4096
const stepMs = 250

overEngines(t, async (t) => {
  const uploadPort = await freePort()
  const parley = await ownServer(t, { PARLEY_UPLOAD_PORT: String(uploadPort) })
  const uploads = { url: `http://127.0.0.1:${uploadPort}`, key: parley.key }

  type Transcript = { text: string; usage: { duration_ms: number } }
  const telephone = { audio: { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 } }

  t.test('an upload at 4 KiB/s is transcribed', { timeout: slow ? 400_000 : 60_000 }, async (t) => {
    const { audio, text } = speechOf(audioBytes)
    const parts = transcriptionParts(telephone, audio)
    const key = randomUUID()
    const startedMs = performance.now()
    const answer = await drip(parts, key)
    t.ok(performance.now() - startedMs > 15_000, `it took ${Math.round((performance.now() - startedMs) / 1000)} s`)
    t.equal(answer.status, 200)
    const transcript = answer.json<Transcript>()
    t.equal(transcript.usage.duration_ms, audioBytes / 16, 'every byte was transcribed')
    const { errors, words } = wordErrors(text, transcript.text)
    t.ok(errors / words <= 0.1, `${errors} of ${words} words: ${transcript.text}`)
    const again = await postForm(parley, transcriptions, parts, { 'idempotency-key': key })
    t.equal(again.json().error.code, 'request_already_started', 'the main port reads the same content')
    t.equal(again.json().error.original_request_id, answer.headers.get('service-request-id'))
  })

  t.test("the server's main TCP port and its TCP port for uploads share idempotency keys", async (t) => {
    const silence = transcriptionParts(telephone, Buffer.alloc(3200))
    const other = transcriptionParts(telephone, Buffer.alloc(3200, 1))
    const [key, question] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }]
    t.equal((await postForm(parley, transcriptions, silence, key)).status, 200)
    t.equal((await postForm(uploads, transcriptions, silence, key)).json().error.code, 'request_already_started')
    t.equal((await postForm(uploads, transcriptions, other, key)).json().error.code, 'idempotency_conflict')
    t.equal((await postJson(uploads, responses, ask('hello'), question)).status, 200)
    t.equal((await postJson(parley, responses, ask('hello'), question)).json().error.code, 'request_already_started')
    t.equal((await send(uploads, '/router/v1/models')).text, (await send(parley, '/router/v1/models')).text)
    t.equal((await send({ ...uploads, key: 'no' }, '/router/v1/models')).json().error.code, 'authentication_failed')
    t.equal((await send(uploads, '/router/nowhere')).json().error.code, 'not_found')
  })

  /** Joins recorded prompts up to a byte count. If the last prompt is cut, the text does not include it. */
  function speechOf(bytes: number): { audio: Buffer; text: string } {
    const names = Object.keys(spoken) as FixtureName[]
    const pieces: Uint8Array[] = []
    const texts: string[] = []
    for (let i = 0, left = bytes; left > 0; i++) {
      const name = names[i % names.length] as FixtureName
      const samples = readFixture(name).subarray(44)
      if (samples.length > left) {
        pieces.push(Buffer.alloc(left))
        break
      }
      const pause = Buffer.alloc(Math.min(9600, left - samples.length))
      pieces.push(samples, pause)
      texts.push(spoken[name])
      left -= samples.length + pause.length
    }
    return { audio: Buffer.concat(pieces), text: texts.join(' ') }
  }

  /** Sends the form piece by piece, like a slow connection. */
  async function drip(parts: readonly FormPart[], key: string): Promise<Answer> {
    const { body, type } = form(parts)
    const headers = {
      authorization: `Bearer ${uploads.key}`,
      'content-type': type,
      'content-length': body.length,
      'idempotency-key': key,
    }
    const request = http.request(uploads.url + transcriptions, { method: 'POST', headers })
    const answered = new Promise<Answer>((resolve, reject) => {
      request.once('error', reject)
      request.once('response', (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => {
          const received = new Headers(response.headers as Record<string, string>)
          resolve({ status: response.statusCode ?? 0, headers: received, text, json: <T>() => JSON.parse(text) as T })
        })
      })
    })
    const stepBytes = (bytesPerSecond * stepMs) / 1000
    for (let at = 0; at < body.length; at += stepBytes) {
      request.write(body.subarray(at, at + stepBytes))
      await sleep(stepMs)
    }
    request.end()
    return answered
  }
})
