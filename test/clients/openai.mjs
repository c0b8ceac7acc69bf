// The official client of OpenAI, given nothing but an address and a key.
import { createReadStream } from 'node:fs'
import OpenAI from 'openai'
import { apiKey, baseURL, collect, cut, describeAudio, good, recording, report, reset, sentence } from './report.mjs'

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
  speakPcm: () => speak('pcm'),
  speakWav: () => speak('wav'),
  speakMp3: () => speak('mp3'),
  models: async () => {
    const ids = []
    for await (const model of client.models.list()) ids.push(model.id)
    return ids
  },
  cutStream: () => chatStream(cut),
  resetStream: () => chatStream(reset),
  wrongKey: () => new OpenAI({ baseURL, apiKey: 'sk_live_wrong' }).chat.completions.create({ model: good, messages }),
})
