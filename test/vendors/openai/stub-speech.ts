/** Answers POST /audio/transcriptions and POST /audio/speech, both also as Mistral defines them. */
import type { ServerResponse } from 'node:http'
import { decodeSamples, encodeSamples } from '../../../audio/pcm.ts'
import { wavHeader } from '../../../audio/wav.ts'
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import {
  cutSoon,
  pause,
  pieces,
  resetSoon,
  samplesOf,
  sendEvent,
  sendJson,
  slowMs,
  transcriptOf,
} from '../suite/stub-server.ts'
import { speechPcm } from '../suite/tts.ts'
import { bodyOf, overloaded } from './stub-answers.ts'

/** The seconds in the `usage` of a transcription. */
export const billedSeconds = 2
/** Mistral's `pcm` is 32-bit floats. */
export const voxtralPcm: Buffer = Buffer.from(encodeSamples(decodeSamples(speechPcm, 'pcm_s16le'), 'pcm_f32le'))

export async function transcribe(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  // Gateways route by the model while the file still arrives, so the model must come first.
  if (request.body.indexOf('name="model"') > request.body.indexOf('name="file"'))
    return void response.writeHead(400).end()
  const type = request.headers['content-type'] ?? ''
  const form = await new Response(request.body, { headers: { 'content-type': type } }).formData()
  const file = form.get('file')
  if (!(file instanceof Blob)) return void response.writeHead(400).end('{}')
  const text = transcriptOf(samplesOf(Buffer.from(await file.arrayBuffer())))
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'header_only') return void response.writeHead(200, { 'content-type': 'application/json' }).end()
  if (cell === 'error_mid') return sendJson(response, { error: overloaded(request) })
  const model = form.get('model')
  if (typeof model === 'string' && model.startsWith('voxtral')) return hearVoxtral(form, text, response, cell)
  const usage = { type: 'duration', seconds: billedSeconds }
  if (cell === 'empty') return sendJson(response, { usage })
  if (form.get('response_format') !== 'verbose_json') return sendJson(response, { text, usage }, {}, cell)
  const segments = [{ id: 0, start: 0, end: 0.25, text: ` ${text}` }]
  const words = text.split(' ').map((word, index) => ({ word, start: index * 0.1, end: index * 0.1 + 0.1 }))
  sendJson(response, { text, language: 'english', duration: 0.25, segments, words, usage }, {}, cell)
}

const voxtralFields = 'model file language temperature stream diarize context_bias timestamp_granularities'.split(' ')

/**
 * Answers as Mistral does: refuses unknown fields, and a request for times together with a language. The times are for
 * words or for segments.
 */
function hearVoxtral(form: FormData, text: string, response: ServerResponse, cell: Cell): void {
  const granularity = form.get('timestamp_granularities')
  const isKnown = [...form.keys()].every((name) => voxtralFields.includes(name))
  const isBiased = form.getAll('context_bias').every((word) => typeof word === 'string' && /^[^\s,]+$/.test(word))
  if (!isKnown || !isBiased || (granularity !== null && form.has('language')))
    return sendJson(response, { detail: [{ type: 'extra_forbidden' }] }, { status: 422 })
  const usage = { prompt_audio_seconds: billedSeconds, prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 }
  const head = { model: form.get('model'), language: null, usage }
  if (cell === 'empty') return sendJson(response, head)
  const speaker_id = form.get('diarize') === 'true' ? 'speaker_1' : null
  const parts = granularity === 'word' ? text.split(' ') : granularity === 'segment' ? [text] : []
  const segments = parts.map((part, at) => ({
    type: 'transcription_segment',
    text: at > 0 ? ` ${part}` : part,
    start: at / 10,
    end: (at + 1) / 10,
    speaker_id,
  }))
  sendJson(response, { ...head, text, segments: text === '' ? [] : segments }, {}, cell)
}

export async function speak(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const body = bodyOf(request)
  if (String(body['model']).startsWith('voxtral')) return voxtral(request, response, cell)
  if (typeof body['voice'] !== 'string') return void response.writeHead(400).end('{}')
  if (cell === 'garbage') return sendJson(response, {}, {}, cell)
  const asWav = body['response_format'] === 'wav' || cell === 'slow_first_byte' || cell === 'header_only'
  response.writeHead(200, { 'content-type': asWav ? 'audio/wav' : 'audio/pcm' })
  response.flushHeaders()
  // Servers that stream a WAV do not know its length at the start.
  if (asWav && cell !== 'empty')
    response.write(wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }, 0x7fff_0000))
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'empty' || cell === 'header_only') return void response.end()
  for (const [index, piece] of pieces(speechPcm, cell).entries()) {
    if (index === 2 && cell === 'cut') return cutSoon(response)
    if (index === 2 && cell === 'reset') return resetSoon(response)
    response.write(piece)
    await new Promise(setImmediate)
  }
  response.end()
}

/** Sends server-sent events with base64, and refuses a setting that Mistral lacks. */
async function voxtral(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const body = bodyOf(request)
  if ('voice' in body || 'speed' in body || 'instructions' in body)
    return sendJson(response, { detail: [] }, { status: 422 })
  if (body['stream'] !== true) return sendJson(response, { audio_data: voxtralPcm.toString('base64') }, {}, cell)
  const send = (type: string, fields: object) => sendEvent(response, { type, ...fields }, type)
  const delta = (bytes: Uint8Array) => send('speech.audio.delta', { audio_data: Buffer.from(bytes).toString('base64') })
  if (cell === 'slow_first_byte' || cell === 'header_only') await delta(Buffer.alloc(0))
  if (cell === 'slow_first_byte') await pause(slowMs)
  const audio = cell === 'empty' || cell === 'header_only' ? [] : pieces(voxtralPcm, cell)
  for (const [index, piece] of audio.entries()) {
    if (index === 2) {
      if (cell === 'cut') return cutSoon(response)
      if (cell === 'reset') return resetSoon(response)
      if (cell === 'garbage') await sendEvent(response, '{"type": "spee')
      if (cell === 'error_mid') return void (await sendEvent(response, { error: overloaded(request) }), response.end())
    }
    await delta(piece)
  }
  await send('speech.audio.done', { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })
  response.end()
}
