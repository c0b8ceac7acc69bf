// Runs OpenAI's official client, with only a base URL and a key set.
import { createReadStream, readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import {
  apiKey,
  baseURL,
  collect,
  cut,
  describeAudio,
  good,
  recording,
  report,
  reset,
  sentence,
  withoutCredential,
} from './report.mjs'

const client = new OpenAI({ baseURL, apiKey })
const messages = [{ role: 'user', content: 'Hello?' }]
const delta = (chunk) => chunk.choices[0]?.delta.content
const chat = (model) => client.chat.completions.create({ model, messages })
const chatStream = async (model) =>
  collect(await client.chat.completions.create({ model, messages, stream: true }), delta)
const speak = async (response_format) => {
  const answer = await client.audio.speech.create({ model: 'auto', voice: 'alloy', input: sentence, response_format })
  return describeAudio(new Uint8Array(await answer.arrayBuffer()))
}
const transcribe = (response_format) =>
  client.audio.transcriptions.create({ model: 'auto', file: createReadStream(recording), response_format })
const tools = [
  {
    type: 'function',
    function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
]

/** Converts the recording from 8 to 24 kHz, with two linearly interpolated samples between neighbouring samples. */
function at24kHz() {
  const samples = new Int16Array(readFileSync(recording).buffer.slice(44))
  const between = (at) =>
    samples[Math.floor(at / 3)] + ((samples[Math.floor(at / 3) + 1] - samples[Math.floor(at / 3)]) * (at % 3)) / 3
  return Buffer.from(Int16Array.from({ length: 3 * samples.length - 3 }, (_, at) => between(at)).buffer)
}

/**
 * Streams the recording in pieces of 100 ms and reads until the transcript is complete. The client supports only TLS.
 */
function realtime() {
  const secure = new OpenAI({ baseURL: process.env.PARLEY_SECURE_BASE_URL, apiKey })
  const options = { ciphers: process.env.PARLEY_SECURE_CIPHERS, maxVersion: 'TLSv1.2', rejectUnauthorized: false }
  const socket = new OpenAIRealtimeWS({ model: 'auto', options }, secure)
  const input = { format: { type: 'audio/pcm', rate: 24_000 }, transcription: { model: 'auto' }, turn_detection: null }
  const deltas = []
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.socket.on('close', (code, reason) => reject(new Error(`closed with ${code} ${reason}`)))
    socket.socket.on('open', () => {
      socket.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
      const pcm = at24kHz()
      for (let at = 0; at < pcm.length; at += 4800) {
        const audio = pcm.subarray(at, at + 4800).toString('base64')
        socket.send({ type: 'input_audio_buffer.append', audio })
      }
      socket.send({ type: 'input_audio_buffer.commit' })
    })
    socket.on('conversation.item.input_audio_transcription.delta', ({ delta }) => deltas.push(delta))
    socket.on('conversation.item.input_audio_transcription.completed', ({ transcript }) => {
      resolve({ text: transcript, deltas: deltas.join('') })
      socket.close()
    })
  })
}

await report({
  chat: async () => ({ text: (await chat(good)).choices[0].message.content }),
  chatStream: () => chatStream(good),
  usage: async () => (await chat(good)).usage,
  tools: async () => {
    const answer = await client.chat.completions.create({ model: 'tools:stub-llm', messages, tools })
    return answer.choices[0].message.tool_calls.map((call) => call.function.name)
  },
  toolStream: async () => {
    const stream = client.chat.completions.stream({ model: 'tools:stub-llm', messages, tools })
    return (await stream.finalMessage()).tool_calls.map((call) => JSON.parse(call.function.arguments))
  },
  transcribe: async () => ({ text: (await transcribe()).text }),
  transcribeText: async () => ({ text: await transcribe('text') }),
  transcribeVerbose: async () => {
    const { text, duration, segments } = await transcribe('verbose_json')
    return { text, duration, segments: segments.length }
  },
  transcribeSrt: async () => ({ text: await transcribe('srt') }),
  transcribeVtt: async () => ({ text: await transcribe('vtt') }),
  speakPcm: () => speak('pcm'),
  speakWav: () => speak('wav'),
  speakMp3: () => speak('mp3'),
  models: async () => {
    const ids = []
    for await (const model of client.models.list()) ids.push(model.id)
    return ids
  },
  retrieve: async () => (await client.models.retrieve(good)).id,
  realtime,
  withoutCredential: () => withoutCredential(() => chat('gpt-4o-mini')),
  cutStream: () => chatStream(cut),
  resetStream: () => chatStream(reset),
  wrongKey: () => new OpenAI({ baseURL, apiKey: 'sk_live_wrong' }).chat.completions.create({ model: good, messages }),
})
