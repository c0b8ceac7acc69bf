// Runs the AI SDK with its OpenAI provider. A failed stream shows as an `error` part only in the full stream. By the
// SDK's design the text stream ends without an error.
import { readFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { experimental_generateSpeech, experimental_transcribe, generateText, streamText, tool } from 'ai'
import { z } from 'zod'
import { apiKey, baseURL, collect, cut, describeAudio, good, recording, report, reset, sentence } from './report.mjs'

const openai = createOpenAI({ baseURL, apiKey })
const prompt = 'Hello?'
const ask = (model) => generateText({ model: openai.chat(model), prompt, maxRetries: 0 })
const stream = (model) => {
  const { fullStream } = streamText({ model: openai.chat(model), prompt, maxRetries: 0, onError: () => {} })
  let hasText = false
  return collect(fullStream, (part) => {
    // The SDK gives each error in a stream the status 500, also after the first text.
    if (part.type === 'error') throw hasText ? new Error(part.error.message ?? JSON.stringify(part.error)) : part.error
    hasText ||= part.type === 'text-delta'
    return part.type === 'text-delta' ? part.text : undefined
  })
}
const speak = async (options) => {
  const model = openai.speech('auto')
  const { audio } = await experimental_generateSpeech({ model, text: sentence, maxRetries: 0, ...options })
  return describeAudio(audio.uint8Array)
}

await report({
  chat: async () => ({ text: (await ask(good)).text }),
  chatStream: () => stream(good),
  usage: async () => {
    const { usage } = await ask(good)
    return { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens }
  },
  tools: async () => {
    const weather = tool({ description: 'The weather.', inputSchema: z.object({ city: z.string() }) })
    const clock = tool({ description: 'The time.', inputSchema: z.object({}) })
    const model = openai.chat('tools:stub-llm')
    const { toolCalls } = await generateText({ model, prompt, tools: { weather, clock }, maxRetries: 0 })
    return toolCalls.map((call) => call.toolName)
  },
  transcribe: async () => {
    const model = openai.transcription('auto')
    return { text: (await experimental_transcribe({ model, audio: readFileSync(recording), maxRetries: 0 })).text }
  },
  speakWav: () => speak({ outputFormat: 'wav' }),
  speakMp3: () => speak({}),
  cutStream: () => stream(cut),
  resetStream: () => stream(reset),
})
